"""From the guest's rows to the tables of a run: names, units, order; parquet and CSV.

The tables depend on the rows alone: the same rows give the same bytes, however they came together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.store.files import whole_file
from rexmit.store.record import Record
from rexmit.store.rows import TABLES
from rexmit.store.schema import ALWAYS, ORDERS, Column, polars_schema

if TYPE_CHECKING:
    import polars as pl

Knowledge = Mapping[str, Any]
"""What the campaign knows about a cell: the columns that the guest does not write."""

Row = Mapping[str, Any]


def _frame(columns: tuple[Column, ...], known: Knowledge, rows: Sequence[Row]) -> pl.DataFrame:
    import polars as pl

    series: list[pl.Series] = []
    for column, kind in zip(columns, polars_schema(columns).values(), strict=True):
        values: list[Any]
        if column.field is None:
            values = [known[column.name]] * len(rows) if rows else []
        else:
            name, scale = column.field
            values = [row.get(name) if column.later else row[name] for row in rows]
            if scale != 1:
                values = [None if value is None else value / scale for value in values]
        series.append(pl.Series(column.name, values, dtype=kind))
    return pl.DataFrame(series)


def write_tables(
    folder: Path, records: Iterable[Record], knowledge: Callable[[int], Knowledge]
) -> None:
    """Write the tables of a run folder: transfers (parquet and CSV) and retransmissions, and those
    that only some scenarios have rows of.

    `knowledge` says what the campaign knows of a cell, by the cell's number.
    """
    import polars as pl

    frames: dict[str, list[pl.DataFrame]] = {
        table.name: [_frame(table.columns, {}, [])] for table in TABLES
    }
    for record in records:
        known = knowledge(record.cell)
        for table in TABLES:
            if rows := record.rows(table):
                frames[table.name].append(_frame(table.columns, known, rows))
    for table in TABLES:
        # Stable: rows alike in all keys keep the guest's order.
        whole_table = pl.concat(frames.pop(table.name))
        whole_table = whole_table.sort(ORDERS[table.name], maintain_order=True).rechunk()
        path = folder / f"{table.name}.parquet"
        if table.name not in ALWAYS and not whole_table.height:
            path.unlink(missing_ok=True)
            continue
        with whole_file(path) as file:
            whole_table.write_parquet(file, compression="zstd")
        if table.name == "transfers":
            with whole_file(folder / "transfers.csv") as file:
                whole_table.write_csv(file)
