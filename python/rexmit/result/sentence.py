"""A sentence as a value: its text, the rows that it is of, and what must be so of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Protocol

import polars as pl

from rexmit.result.blocks import Facts
from rexmit.values import dataclass


class Tables(Protocol):
    """What a result is read from: rows by the name of their table."""

    def scan(self, table: str) -> pl.LazyFrame:
        """The rows of a table."""


@dataclass(frozen=True)
class Sentence:
    """`text` is said of those `rows` of a `table` of which `condition` holds; `label` stands before
    it."""

    text: str
    table: str
    condition: Callable[[pl.DataFrame], bool] = field(compare=False)
    rows: pl.Expr = field(default=pl.lit(True), compare=False)
    label: str = ""

    def __str__(self) -> str:
        return self.text

    def rows_in(self, tables: Tables) -> pl.DataFrame:
        """The rows that it speaks of, in order of time where they have one."""
        frame = tables.scan(self.table).filter(self.rows).collect()
        return frame.sort("time_ns") if "time_ns" in frame.columns else frame

    def holds(self, tables: Tables) -> bool:
        """Whether the rows are as it says."""
        return self.condition(self.rows_in(tables))


def facts(sentences: Iterable[Sentence]) -> Facts:
    """Sentences behind their labels."""
    return Facts(tuple((one.label, one.text) for one in sentences))
