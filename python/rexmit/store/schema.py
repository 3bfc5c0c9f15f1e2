"""Columns and tables as `crates/schema` declares them, and the tables of a run by name.

docs/reference/columns.md has every column with its type, unit and meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, cast

from rexmit import _core

if TYPE_CHECKING:
    from pathlib import Path

    import polars

Kind = Literal["text", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, type, meaning, unit, and whether a row may leave it null. A `known` one
    is not told by an engine: whoever asks for the rows knows it of all of them.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str | None = None
    nullable: bool = False
    known: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its name, the columns that its rows are sorted by, its columns in order."""

    name: str
    order: tuple[str, ...]
    columns: tuple[Column, ...]


@cache
def declared(place: str) -> Mapping[str, Table]:
    """The tables of a place (run, trace, truth, kernel-truth) by name, as declared in Rust."""
    tables = dict(_core.places())[place]
    return {
        name: Table(
            name,
            tuple(order),
            tuple(Column(one[0], cast("Kind", one[1]), *one[2:]) for one in columns),
        )
        for name, order, columns in tables
    }


_RUN: Final = declared("run")

TRANSFERS: Final = _RUN["transfers"].columns
RETRANSMISSIONS: Final = _RUN["retransmissions"].columns
BURSTS: Final = _RUN["bursts"].columns
SUBFLOWS: Final = _RUN["subflows"].columns

GRID: Final = (
    "network",
    "config",
    "page_segments",
    "receive_window_bytes",
    "line_loss",
    "congestion_control",
    "client",
    "loss_mode",
    "loss_pattern",
    "lost_segments",
)
"""Columns of transfers that tell the cells of a run apart, the outermost first."""

EVERY_RETRANSMISSION: Final = tuple(
    column for column in RETRANSMISSIONS if column in declared("trace")["retransmissions"].columns
)
"""What is known of every retransmission, of a run or in a capture."""

ORDERS: Final[Mapping[str, tuple[str, ...]]] = {name: table.order for name, table in _RUN.items()}
"""By table, the columns that its rows are sorted by; flow K is row K of `transfers`."""

ALWAYS: Final = ("transfers", "retransmissions")
"""Tables that every run has; the others are written where there are rows."""


def polars_schema(columns: tuple[Column, ...]) -> dict[str, polars.DataType]:
    """The columns as a Polars schema, in order."""
    import polars as pl

    types: dict[Kind, polars.DataType] = {
        "text": pl.String(),
        "integer": pl.Int64(),
        "number": pl.Float64(),
        "boolean": pl.Boolean(),
    }
    return {column.name: types[column.kind] for column in columns}


def scan_table(path: Path) -> polars.LazyFrame:
    """A table's file, or the folder of its parts in their order, read when asked."""
    import polars

    # The folders' names are no columns.
    return polars.scan_parquet(path, glob=False, hive_partitioning=False)


def without_formulas(rows: polars.LazyFrame) -> polars.LazyFrame:
    """Rows for CSV: a text that a spreadsheet would take for a formula has ' before it, which
    spreadsheets take for the mark of a text.
    """
    import polars as pl

    return rows.with_columns(pl.col(pl.String).str.replace(r"^([=+@\t\r]|-.)", "'${0}"))
