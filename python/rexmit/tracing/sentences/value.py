"""A sentence as a value: its text, the rows that it is of, and what must be so of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import polars as pl

from rexmit.tracing.folder import Trace
from rexmit.tracing.words import share

ALL = pl.lit(True)
"""Every row of a table."""


@dataclass(frozen=True)
class Sentence:
    """`text` is said of those `rows` of a `table` of which `condition` holds; `label` stands before
    it."""

    text: str
    table: str
    condition: Callable[[pl.DataFrame], bool] = field(compare=False)
    rows: pl.Expr = field(default=ALL, compare=False)
    label: str = ""

    def __str__(self) -> str:
        return self.text

    def of(self, trace: Trace) -> pl.DataFrame:
        """The rows that it speaks of, in order of time where they have one."""
        found = trace.scan(self.table).filter(self.rows).collect()
        return found.sort("time_ns") if "time_ns" in found.columns else found

    def holds(self, trace: Trace) -> bool:
        """Whether the trace's rows are as it says."""
        return self.condition(self.of(trace))


def connections(number: int, every: int) -> str:
    """`2 of 8 connections (25.0%)`, or that it is all of them."""
    if number == every:
        return {1: "the only connection", 2: "both connections"}.get(
            every, f"all {every:,} connections"
        )
    return f"{number:,} of {every:,} connections ({share(number, every)})"


def times(number: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
