"""Retransmissions that the point nearest to their sender did not capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing.points.captured import Captured
from rexmit.tracing.points.directions import Directions, Frames
from rexmit.tracing.points.renumber import renumbered


@dataclass(frozen=True)
class More:
    """Retransmissions that other points tell of, and the sides of connections at these points."""

    rows: pl.DataFrame
    sides: pl.DataFrame


def beyond(
    points: Sequence[Frames],
    known: pl.DataFrame,
    directions: Directions,
    nearest: pl.DataFrame,
    captured: Captured,
) -> More:
    """Retransmissions that came by at a further point while the nearest one was not captured;
    `known` are those that the nearest points tell of.
    """
    rows = [points[0]["retransmissions"].clear()]
    sides = [nearest.clear()]
    roots = {
        directions.root((point, connection, direction)): place
        for place, (point, connection, direction) in enumerate(
            nearest.select("point", "of_connection", "of_direction").iter_rows()
        )
    }
    for number, tables in enumerate(points):
        at = [
            (place, connection, side)
            for connection in tables["connections"]["connection"]
            for side in SIDES
            if (place := roots.get(directions.root((number, connection, side)))) is not None
        ]
        there = pl.DataFrame(
            at,
            schema={"place": pl.Int64, "there": pl.Int64, "there_direction": pl.String},
            orient="row",
        )
        here = (
            nearest.with_row_index("place")
            .with_columns(pl.col("place").cast(pl.Int64))
            .join(there, on="place", how="inner")
            .filter(pl.col("point") != number)
        )
        for near in here["point"].unique(maintain_order=True):
            mine = here.filter(pl.col("point") == near).select(
                "connection",
                "direction",
                "flow",
                pl.lit(number, dtype=pl.Int64).alias("point"),
                pl.col("there").alias("of_connection"),
                pl.col("there_direction").alias("of_direction"),
                "last",
                "last_connection",
                "last_direction",
            )
            time = pl.col("time_s")
            maybe = renumbered(
                tables["retransmissions"].filter(captured.outside(near, time, on_way=True)),
                mine,
                mine,
                number,
            )
            sure = captured.outside(near, time)
            # What was on its way when the captures ended may be in both.
            keys = ["connection", "direction", "seq_start"]
            here_too = (
                maybe.filter(~sure)
                .sort("time_s")
                .join_asof(
                    known.select(*keys, time.alias("before")).sort("before"),
                    left_on="time_s",
                    right_on="before",
                    by=keys,
                    strategy="backward",
                    check_sortedness=False,
                )
                .filter(time - pl.col("before") <= captured.longest_s)
            )
            alone = maybe.join(here_too, on=[*keys, "time_ns"], how="anti")
            rows.append(alone)
            sides.append(mine.join(alone, on=["connection", "direction"], how="semi"))
    return More(pl.concat(rows), pl.concat(sides))
