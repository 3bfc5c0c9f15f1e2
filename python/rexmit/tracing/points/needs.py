"""Whether retransmissions were needed, by what became of the packets before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from rexmit.tracing import sides
from rexmit.tracing.points.directions import Frames

_NOTHING: Final = 200
"""A way is none where it takes less than such a part of the other one: as `clock.rs` has it."""

_SPACE: Final = 1 << 32
"""How many sequence numbers there are."""


def with_needs(
    points: Sequence[Frames],
    tables: Mapping[str, pl.DataFrame],
    followed: pl.DataFrame,
    chosen: pl.DataFrame,
    more: pl.DataFrame,
    names: Sequence[str],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The retransmissions with what the points know of their need, and those whose need is another
    now, with `was`. `more` are sides at further points that rows are of, too.
    """
    rows = tables["retransmissions"]
    needs = _known(rows, followed, pl.concat([chosen, more]), names)
    far = _far(points, chosen)
    joined = (
        rows.with_row_index("row")
        .join(needs, on="row", how="left", maintain_order="left")
        .join(
            _at_receiver(points, chosen),
            on=["connection", "direction"],
            how="left",
            maintain_order="left",
        )
        .join(
            far,
            left_on=["connection", "direction", "last", "last_ns", "seq_start"],
            right_on=["connection", "direction", "last", "time_ns", "seq_start"],
            how="left",
            maintain_order="left",
        )
    )
    never = pl.col("known") == "needed"
    came = (pl.col("known") == "spurious") & pl.col("at_receiver")
    # Beyond the last point the analysis there knows best, of what came by.
    there = (pl.col("known") == "spurious") & pl.col("far_need").is_not_null()

    def settled(column: str, known: pl.Expr, seen: pl.Expr) -> pl.Expr:
        far = pl.col(f"far_{column}")
        chain = pl.when(never).then(known).when(came).then(seen).when(there).then(far)
        return chain.otherwise(pl.col(column)).alias(column)

    judged = joined.with_columns(
        pl.col("need").alias("was"),
        settled("need", pl.lit("needed"), pl.lit("spurious")),
        settled("evidence", pl.lit("original-unseen"), pl.lit("original-seen")),
        settled("need_confidence", pl.lit(1.0), pl.lit(1.0)),
    )
    changed = judged.filter(pl.col("was") != pl.col("need"))
    return judged.select(rows.columns), changed


def _known(
    rows: pl.DataFrame, followed: pl.DataFrame, chosen: pl.DataFrame, names: Sequence[str]
) -> pl.DataFrame:
    """By `row`, the place in `rows`: the need `known`, and the `last` point that it came by at and
    when. Where a network card cut the packet up, it was needed if any part of it was.
    """
    places = {name: number for number, name in enumerate(names)}
    near = chosen.select("connection", "direction", "point")
    again = (
        followed.filter("again", pl.col("connection").is_not_null())
        .with_columns(
            pl.col("point").replace_strict(places, return_dtype=pl.Int64),
            pl.col("last_point").replace_strict(places, return_dtype=pl.Int64).alias("last"),
        )
        .join(near, on=["connection", "direction", "point"], how="semi")
    )
    keys = ["connection", "direction", "time_ns"]
    mine = rows.with_row_index("row").select(
        "row", *keys, pl.col("seq_start").alias("from"), pl.col("seq_end").alias("to")
    )
    # Numbers are told from those of the first packet of that time, so that they have an order.
    bases = mine.group_by(keys).agg(pl.col("from").first().alias("base"))
    again = again.join(bases, on=keys).pipe(_spans, "seq_start", "seq_end")
    mine = mine.join(bases, on=keys).pipe(_spans, "from", "to")
    needed = _met(mine, again.filter(pl.col("need") == "needed"), keys)
    met = _met(mine, again, keys)
    known = pl.when(pl.col("row").is_in(needed["row"].implode())).then(pl.lit("needed"))
    return met.select("row", known.otherwise("need").alias("known"), "last", "last_ns")


def _spans(packets: pl.DataFrame, start: str, end: str) -> pl.DataFrame:
    """With the numbers `first` and `final` of each packet that has some."""
    half = _SPACE // 2
    first = (pl.col(start) - pl.col("base") + half) % _SPACE - half
    length = (pl.col(end) - pl.col(start)) % _SPACE
    return packets.with_columns(first.alias("first"), (first + length - 1).alias("final")).filter(
        length > 0
    )


def _met(mine: pl.DataFrame, again: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Each of `mine` with the first of those of `again` that have a number of its own."""
    lowest = pl.col("first").cum_min().over(keys)
    lower = (lowest < lowest.shift().over(keys)).fill_null(value=True)
    carried = [
        pl.when(lower).then(pl.col(column)).alias(column) for column in ("need", "last", "last_ns")
    ]
    # From the last one on, what begins first of all that end as late.
    least = (
        again.sort("final", descending=True, maintain_order=True)
        .select(*keys, "final", lowest.alias("lowest"), *carried)
        .with_columns(pl.col("need", "last", "last_ns").forward_fill().over(keys))
        .reverse()
    )
    return (
        mine.sort("first", maintain_order=True)
        .join_asof(
            least,
            left_on="first",
            right_on="final",
            by=list(keys),
            strategy="forward",
            suffix="_told",
            check_sortedness=False,
        )
        .filter(pl.col("lowest") <= pl.col("final"))
        .sort("row")
    )


def _far(points: Sequence[Frames], chosen: pl.DataFrame) -> pl.DataFrame:
    """What the last point's analysis says of each retransmission that came by there."""
    parts = []
    for number, tables in enumerate(points):
        mine = chosen.filter(pl.col("last") == number, pl.col("point") != number).select(
            pl.col("connection").alias("new"),
            pl.col("direction").alias("new_direction"),
            pl.col("last_connection").alias("connection"),
            pl.col("last_direction").alias("direction"),
        )
        rows = tables["retransmissions"].join(mine, on=["connection", "direction"], how="inner")
        parts.append(
            rows.select(
                pl.col("new").alias("connection"),
                pl.col("new_direction").alias("direction"),
                pl.lit(number, dtype=pl.Int64).alias("last"),
                "time_ns",
                "seq_start",
                *(pl.col(c).alias(f"far_{c}") for c in ("need", "evidence", "need_confidence")),
            )
        )
    keys = ["connection", "direction", "last", "time_ns", "seq_start"]
    return pl.concat(parts).unique(keys, keep="first", maintain_order=True)


def _at_receiver(points: Sequence[Frames], chosen: pl.DataFrame) -> pl.DataFrame:
    """Of each side whether its last point stands beside its receiver: no time is spent beyond."""
    delays = pl.concat(
        tables["sides"].select(
            pl.lit(number, dtype=pl.Int64).alias("last"),
            pl.col("connection").alias("last_connection"),
            pl.col("direction").alias("last_direction"),
            pl.col("monitor_delay_s").alias("back"),
        )
        for number, tables in enumerate(points)
    )
    keys = ["last", "last_connection", "last_direction"]
    beyond = delays.with_columns(sides.other(pl.col("last_direction")).alias("last_direction"))
    beside = chosen.join(delays, on=keys, how="left").join(
        beyond.rename({"back": "beyond"}), on=keys, how="left"
    )
    is_beside = (pl.col("beyond") * _NOTHING <= pl.col("back")).fill_null(value=False)
    return beside.select("connection", "direction", is_beside.alias("at_receiver"))
