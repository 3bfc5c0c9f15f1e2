"""Sums over `mechanisms`: what each connection, or each of its sides, sent again and waited for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import polars as pl

from rexmit.tracing.folder import Trace

NEEDS: Final = ("needed", "spurious", "unknown")
"""The counts of `mechanisms`. Traces of before have no `unknown`: `needed` counts those, too."""


def total(what: str, mechanisms: Collection[str] = (), side: str | None = None) -> pl.Expr:
    """The sum of a count or of waited_s, of some mechanisms (none named: all) and sides."""
    wanted = pl.lit(True)
    if mechanisms:
        wanted &= pl.col("mechanism").is_in(list(mechanisms))
    if side is not None:
        wanted &= pl.col("direction") == side
    return pl.col(what).filter(wanted).sum()


def retransmissions(mechanisms: Collection[str] = (), side: str | None = None) -> pl.Expr:
    """Their number, as `total`."""
    return sum(
        (total(need, mechanisms, side) for need in NEEDS[1:]), total(NEEDS[0], mechanisms, side)
    )


def beside(connections: pl.LazyFrame, trace: Trace, **sums: pl.Expr) -> pl.LazyFrame:
    """Connections of the trace with sums of their rows of `mechanisms` beside, under these names; 0
    where a connection has no row.
    """
    of = trace.scan("mechanisms").group_by("connection").agg(**sums)
    both = connections.join(of, on="connection", how="left", maintain_order="left")
    return both.with_columns(pl.col(name).fill_null(0) for name in sums)
