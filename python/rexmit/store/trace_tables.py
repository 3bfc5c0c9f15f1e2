"""The tables of a trace's folder, read: held against their declaration, and beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import polars as pl

from rexmit.errors import UserError
from rexmit.store import checked
from rexmit.store.schema import scan_table
from rexmit.store.trace_schema import POINT_TABLES, TABLES

ANALYSE: Final = "analyse the captures again"
"""What is to be done where a trace's folder cannot be read."""


def scan(folder: Path, table: str) -> pl.LazyFrame:
    """A table of a folder, read when asked. Raises UserError."""
    file = folder / f"{table}.parquet"
    columns = TABLES.get(table) or POINT_TABLES[table]
    return checked.fitting(scan_table(file), columns, file, ANALYSE)


def hold(folder: Path, tables: Iterable[str]) -> None:
    """Raises UserError where one of the tables is missing, lacks a column, or has rows that no
    analysis writes: whoever reads them afterwards relies on that.
    """
    held = list(tables)
    for name in held:
        file = folder / f"{name}.parquet"
        checked.fits(file, ANALYSE, whole=False)
        checked.hold(scan(folder, name), (TABLES | POINT_TABLES)[name], file, ANALYSE)
    if {"connections", "sides"}.issubset(held):
        _hold_keys(folder)


def _hold_keys(folder: Path) -> None:
    """Raises UserError where two rows have one connection, or a connection has not both sides."""
    number, is_forward = pl.col("connection"), pl.col("direction") == "forward"
    numbers = _sorted(scan(folder, "connections"), number)
    # Sorted integers take a tenth of the time that sets of rows and a join take, and less memory.
    sides = _sorted(scan(folder, "sides"), 2 * number + is_forward)
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
