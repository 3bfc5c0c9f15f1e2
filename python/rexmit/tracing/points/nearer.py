"""A host's own time by the point beside it: the way to any other point is the network's."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit import _core
from rexmit.tracing.folder import SLOW_S

_KEYS: Final = ["connection", "direction"]

_WAYS: Final = ("connecting", "round-trip", "closing")
"""Time of the network, or of nobody."""

_ENDS: Final = ("connecting", "closing")

_CLIENTS: Final = ("client", "between-requests")
_SERVERS: Final = ("server",)

_SLOW_NS: Final = round(SLOW_S * 1e9)


def by_nearer(
    account: pl.DataFrame, by_client: pl.DataFrame, by_server: pl.DataFrame
) -> pl.DataFrame:
    """`account` with the time of the client's program by what the point beside the client has of
    both directions, the server's by the point beside that; and as long as the client took.
    """
    account = _moved(account, by_client, _CLIENTS, _SERVERS)
    account = _moved(account, by_server, _SERVERS, _CLIENTS)
    order = pl.col("owner").cast(pl.Enum(_core.owners()))
    return _as_long(account, by_client).sort(*_KEYS, order)


def _as_long(account: pl.DataFrame, by_client: pl.DataFrame) -> pl.DataFrame:
    """With what the client took longer to connect and to close, and round trips so that the rows
    of a direction add up to what the client took: where their sum says that they may."""
    ends = pl.col("owner").is_in(_ENDS)
    seen = account.select(*_KEYS, "owner", pl.col("length_ns").alias("seen_ns"))
    longer = (
        by_client.filter(ends)
        .join(seen, on=[*_KEYS, "owner"])
        .filter(pl.col("length_ns") > pl.col("seen_ns"))
        .drop("asked")
        .join(account.group_by(_KEYS).agg(pl.col("asked").first()), on=_KEYS)
        .select(account.columns)
    )
    every = pl.concat([account.join(longer, on=[*_KEYS, "owner"], how="anti"), longer])
    length, round_trip = pl.col("length_ns"), pl.col("owner") == "round-trip"
    took = by_client.group_by(_KEYS).agg(length.sum().alias("took_ns"))
    more = pl.col("took_ns") - length.sum().over(_KEYS)
    every = every.join(took, on=_KEYS, how="left").with_columns(
        pl.when(round_trip).then(length + more).otherwise(length).alias("length_ns")
    )
    least = pl.max_horizontal("longest_ns", "slow_ns")
    fits = (round_trip & (length >= least)).any().over(_KEYS)
    every = every.filter(fits).select(account.columns)
    return pl.concat([every, account.join(every, on=_KEYS, how="anti")])


def _moved(
    account: pl.DataFrame, near: pl.DataFrame, own: tuple[str, ...], others: tuple[str, ...]
) -> pl.DataFrame:
    """With rows of the `own` program by the point beside it, where this has it busy for less time,
    and nothing else of that host instead. What is more went by on the way: of the longest stretch
    no less than it is longer than the longest near by.
    """
    mine = pl.col("owner").is_in(own)

    def sums(rows: pl.DataFrame) -> pl.DataFrame:
        length, on_ways = pl.col("length_ns"), pl.col("owner").is_in([*_WAYS, *others])
        return rows.group_by(_KEYS).agg(
            pl.col("asked").first(),
            length.filter(mine).sum().alias("own"),
            length.filter(~on_ways).sum().alias("rest"),
            pl.col("longest_ns").filter(mine).max().fill_null(0),
            pl.col("evidence_ns").filter(mine).sort_by(pl.col("longest_ns").filter(mine)).last(),
        )

    less = (
        sums(account)
        .join(sums(near).drop("asked"), on=_KEYS, suffix="_near")
        .filter(pl.col("own_near") < pl.col("own"), pl.col("rest_near") < pl.col("rest"))
        .with_columns(
            (pl.col("own") - pl.col("own_near")).alias("more_ns"),
            (pl.col("longest_ns") - pl.col("longest_ns_near")).clip(0).alias("held_ns"),
        )
        .with_columns(pl.min_horizontal("more_ns", "held_ns").alias("held_ns"))
    )
    slow = pl.col("held_ns") >= _SLOW_NS
    ways = account.join(less, on=_KEYS, how="semi").unique(_KEYS, maintain_order=True)
    ways = ways.select("capture", "flow", *_KEYS).join(less, on=_KEYS)
    ways = ways.with_columns(
        pl.lit("round-trip").alias("owner"),
        pl.col("more_ns").alias("length_ns"),
        slow.cast(pl.Int64).alias("stretches"),
        slow.cast(pl.Int64).alias("slow"),
        pl.when(slow).then("held_ns").otherwise(0).alias("slow_ns"),
        pl.when(slow).then("held_ns").alias("slow_least_ns"),
        pl.col("held_ns").alias("longest_ns"),
        pl.lit(0, pl.Int64).alias("other_ns"),
    ).select(account.columns)
    here = near.filter(mine).drop("asked").join(less.select(*_KEYS, "asked"), on=_KEYS)
    kept = account.filter(~mine).join(less, on=_KEYS, how="semi")
    return pl.concat(
        [
            account.join(less, on=_KEYS, how="anti"),
            _merged(pl.concat([kept, here.select(account.columns), ways])).select(account.columns),
        ]
    )


def _merged(rows: pl.DataFrame) -> pl.DataFrame:
    """One row for each owner of a direction."""
    return rows.group_by([*_KEYS, "owner"], maintain_order=True).agg(
        pl.col("capture", "flow", "asked").first(),
        pl.col("length_ns", "slow", "slow_ns", "other_ns").sum(),
        pl.col("stretches").sum().clip(1),
        pl.col("slow_least_ns").min(),
        pl.col("evidence_ns").sort_by("longest_ns").last(),
        pl.col("longest_ns").max(),
    )
