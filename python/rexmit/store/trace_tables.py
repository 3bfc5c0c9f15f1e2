"""The tables of a trace's folder, read: held against their declaration, and beside each other."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from rexmit.errors import UserError
from rexmit.store import checked, older
from rexmit.store.older import ANALYSE
from rexmit.store.schema import scan_table
from rexmit.store.trace_schema import POINT_TABLES, TABLES


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
    _hold_keys(folder, format_)


def _hold_keys(folder: Path, format_: int) -> None:
    """Raises UserError where two rows have one connection, or a connection has not both sides."""
    number, is_forward = pl.col("connection"), pl.col("direction") == "forward"
    numbers = _sorted(scan(folder, "connections", format_), number)
    # Sorted integers take a tenth of the time that sets of rows and a join take, and less memory.
    sides = _sorted(scan(folder, "sides", format_), 2 * number + is_forward)
    for name, keys, key in (
        ("connections", numbers, "connection"),
        ("sides", sides, "connection, direction"),
    ):
        if (keys.diff() == 0).any():
            raise UserError(f"{folder / name}.parquet: two rows have the same {key}", ANALYSE)
    if not (
        sides.len() == 2 * numbers.len()
        and all(sides.gather_every(2, of).equals(2 * numbers + of) for of in (0, 1))
    ):
        raise UserError(
            f"{folder / 'sides.parquet'}: some connection has not both of its rows", ANALYSE
        )


def _sorted(rows: pl.LazyFrame, key: pl.Expr) -> pl.Series:
    return rows.select(key.alias("key")).collect(engine="streaming").to_series().sort()
