"""When the captures of several points begin and end, and all times by the clock of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexmit.tracing.points.clocks import aligned
from rexmit.tracing.points.directions import Frames
from rexmit.tracing.points.follow import Ways

Span = tuple[float, float] | None
"""The first and the last time stamp of a point's captures, seconds since 1970."""

_TIMES: Final = {
    "connections": ("start_s", "end_s"),
    "retransmissions": ("time_s", "first_sent_s"),
}
"""Columns with times since 1970."""


@dataclass(frozen=True)
class Captured:
    """When the points' captures begin and end, by the first point's clock; `longest_s` is the
    longest that a packet took from point to point: what a capture's end leaves out may have been on
    its way.
    """

    spans: tuple[Span, ...]
    longest_s: float

    @classmethod
    def by_first(cls, spans: Sequence[Span], ways: Ways) -> Captured:
        """`spans` are by the points' own clocks."""

        def aligned_span(span: Span, clock: list[Any]) -> Span:
            if span is None or not clock:
                return span
            first, last = aligned(clock, [round(at * 1e9) for at in span])
            return first / 1e9, last / 1e9

        delays = ways.legs["delay_max_s"].drop_nulls()
        return cls(
            tuple(
                aligned_span(span, clock) for span, clock in zip(spans, ways.clocks, strict=True)
            ),
            max(0.0, *delays) if delays.len() else 0.0,
        )

    def misses_s(self, point: int, begun: float, ended: float) -> float:
        """How much of this time the captures of a point do not hold."""
        span = self.spans[point]
        if span is None:
            return ended - begun
        return max(0.0, span[0] - begun) + max(0.0, ended - span[1])

    def outside(self, point: int, times: pl.Expr, *, on_way: bool = False) -> pl.Expr:
        """Whether what came by at a further point at these times came by at this one before or
        after its captures; with `on_way` also where it may have been on its way when they ended.
        """
        span = self.spans[point]
        if span is None:
            return pl.lit(value=True)
        return (times < span[0]) | (times > span[1] + (0.0 if on_way else self.longest_s))


def by_first_clock(tables: Frames, clock: list[Any]) -> Frames:
    """With the times of the first point's clock."""
    if not clock:
        return tables

    def times(column: pl.Series) -> pl.Series:
        known = column.drop_nulls()
        there = aligned(clock, (known * 1e9).round().cast(pl.Int64).to_list())
        moved = pl.Series(column.name, [None] * column.len(), dtype=pl.Float64)
        at = column.is_not_null().arg_true()
        return moved.scatter(at, pl.Series(there, dtype=pl.Int64).cast(pl.Float64) / 1e9)

    moved = dict(tables)
    for name, columns in _TIMES.items():
        moved[name] = moved[name].with_columns(times(moved[name][column]) for column in columns)
    # Rows of the account do not tell whose clock they have.
    ended = aligned(clock, moved["account"]["evidence_ns"].to_list())
    moved["account"] = moved["account"].with_columns(
        pl.Series("evidence_ns", ended, dtype=pl.Int64)
    )
    return moved
