"""What several points show of all connections together: clocks, losses and delays between them."""

from __future__ import annotations

import polars as pl

from rexmit.tracing.folder import Trace
from rexmit.values import dataclass


@dataclass(frozen=True)
class Clock:
    """A point, and what its clock shows more than the first point's; None where it is not known.
    `offset_uncertainty_s` is how far that may be off.
    """

    point: str
    packets: int
    offset_s: float | None
    offset_uncertainty_s: float | None
    drift_ppm: float | None


@dataclass(frozen=True)
class Stretch:
    """From one point to the next, all connections together. `delay_median_s` is the median of the
    connections' medians.
    """

    from_point: str
    to_point: str
    packets: int
    lost: int
    data_lost: int
    acks_lost: int
    missed: int
    delay_min_s: float | None
    delay_median_s: float | None
    delay_max_s: float | None


@dataclass(frozen=True)
class Points:
    """`at_one` counts connections of which no packet came by at a second point."""

    clocks: tuple[Clock, ...]
    stretches: tuple[Stretch, ...]
    at_one: int


def summary(trace: Trace) -> Points | None:
    """None where packets were captured at one point."""
    if not trace.points:
        return None
    clocks = trace.scan("points").select(*Clock.__dataclass_fields__).collect()
    legs = trace.scan("legs")
    stretches = (
        legs.group_by("from_point", "to_point", maintain_order=True)
        .agg(
            pl.col("packets", "lost", "data_lost", "acks_lost", "missed").sum(),
            pl.col("delay_min_s").min(),
            pl.col("delay_median_s").median(),
            pl.col("delay_max_s").max(),
        )
        .filter(pl.col("packets") > 0)
        .collect()
    )
    order = {name: number for number, name in enumerate(trace.points)}
    rows = sorted(
        (Stretch(**row) for row in stretches.iter_rows(named=True)),
        key=lambda one: (order[one.from_point], order[one.to_point]),
    )
    followed = legs.select("connection").unique()
    alone = trace.scan("connections").join(followed, on="connection", how="anti")
    return Points(
        tuple(Clock(*row) for row in clocks.iter_rows()),
        tuple(rows),
        int(alone.select(pl.len()).collect().item()),
    )
