"""From the rows of cells to the tables of a run: order; parquet and CSV.

The tables depend on the rows alone: the same rows give the same bytes, however they came together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.store.files import whole_file
from rexmit.store.record import Record
from rexmit.store.rows import TABLES, Knowledge, told, whole
from rexmit.store.schema import ALWAYS, ORDERS, Column, polars_schema, without_formulas

if TYPE_CHECKING:
    import polars as pl


def write_tables(
    folder: Path, records: Iterable[Record], knowledge: Callable[[int], Knowledge]
) -> None:
    """Write the tables of a run folder: transfers (parquet and CSV) and retransmissions, and those
    that only some scenarios have rows of.

    `knowledge` says what the campaign knows of a cell, by the cell's number.
    """
    import polars as pl

    parts_of: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
    cells: list[int] = []
    for record in records:
        cells.append(record.cell)
        for name, rows in record.tables.items():
            parts_of[name].append(rows)
    known = list(map(knowledge, cells))
    for name, parts in parts_of.items():
        columns = TABLES[name]
        empty = pl.DataFrame(schema=polars_schema(told(columns)))
        of_rows = _of_rows(columns, known, [rows.height for rows in parts])
        whole_table = whole(columns, pl.concat([empty, *parts]), of_rows)
        parts.clear()
        # Stable: rows alike in all keys keep the engine's order.
        whole_table = whole_table.sort(ORDERS[name], maintain_order=True).rechunk()
        path = folder / f"{name}.parquet"
        if name not in ALWAYS and not whole_table.height:
            path.unlink(missing_ok=True)
            continue
        with whole_file(path) as file:
            whole_table.write_parquet(file, compression="zstd")
        if name == "transfers":
            with whole_file(folder / "transfers.csv") as file:
                without_formulas(whole_table.lazy()).collect().write_csv(file)


def _of_rows(
    columns: tuple[Column, ...], known: Sequence[Knowledge], heights: Sequence[int]
) -> dict[str, pl.Series]:
    """What is known of cells that have so many rows each, row for row."""
    import polars as pl

    types = polars_schema(tuple(column for column in columns if column.known))
    filled = [(row, height) for row, height in zip(known, heights, strict=True) if height]
    each = pl.DataFrame([[row[name] for name in types] for row, _ in filled], types, orient="row")
    times = pl.Series([height for _, height in filled], dtype=pl.UInt32)
    return each.select(pl.all().repeat_by(times).explode()).to_dict()
