"""The tables of a trace's folder, read: held against their declaration, and beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from rexmit.errors import UserError
from rexmit.store import checked, older
from rexmit.store.older import ANALYSE
from rexmit.store.schema import scan_table
from rexmit.store.trace_schema import POINT_TABLES, TABLES

_KEYS: Final = {
    "connections": ("connection",),
    "sides": ("connection", "direction"),
}
"""By table, what no two of its rows have in common: they are found by it."""


def scan(folder: Path, table: str, format_: int) -> pl.LazyFrame:
    """A table of a folder of this format, in today's columns, read when asked. Raises UserError."""
    if table not in POINT_TABLES:
        return older.scan_trace(folder, table, format_)
    file = older.trace_file(folder, table, format_)
    return checked.fitting(scan_table(file), POINT_TABLES[table], file, ANALYSE)


def hold(folder: Path, format_: int, *, points: bool) -> None:
    """Raises UserError where a table is missing, lacks a column, or has rows that no analysis
    writes: whoever reads them afterwards relies on that.
    """
    for name, needed in older.trace_files(format_).items():
        file = folder / f"{name}.parquet"
        there = checked.types(scan_table(file), file, ANALYSE)
        if missing := [column for column in needed if column not in there]:
            raise UserError(f"{file}: column {', '.join(missing)} is missing", ANALYSE)
    tables = TABLES | (POINT_TABLES if points else {})
    for name, columns in tables.items():
        file = older.trace_file(folder, name, format_)
        checked.hold(scan(folder, name, format_), columns, file, ANALYSE)
    rows = {name: scan(folder, name, format_) for name in _KEYS}
    for name, key in _KEYS.items():
        if _count(rows[name]) != _count(rows[name].unique(key)):
            raise UserError(
                f"{folder / name}.parquet: two rows have the same {', '.join(key)}", ANALYSE
            )
    both = _count(rows["connections"].join(rows["sides"], on="connection"))
    if not both == _count(rows["sides"]) == 2 * _count(rows["connections"]):
        raise UserError(
            f"{folder / 'sides.parquet'}: some connection has not both of its rows", ANALYSE
        )


def _count(rows: pl.LazyFrame) -> int:
    return int(rows.select(pl.len()).collect(engine="streaming").item())
