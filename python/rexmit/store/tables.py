"""From the guest's rows to the tables of a run: names, units, order; parquet and CSV.

The tables depend on the rows alone: the same rows give the same bytes, however they came together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.errors import UserError
from rexmit.store.files import whole
from rexmit.store.record import Record
from rexmit.store.rows import KNOWN, guest_field
from rexmit.store.schema import (
    RETRANSMISSION_ORDER,
    RETRANSMISSIONS,
    TRANSFER_ORDER,
    TRANSFERS,
    Column,
    polars_schema,
)

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
        if column.name in KNOWN:
            values = [known[column.name]] * len(rows) if rows else []
        else:
            name, scale = guest_field(column)
            values = [row[name] for row in rows]
            if scale != 1:
                values = [None if value is None else value / scale for value in values]
        if not column.nullable and any(value is None for value in values):
            raise UserError(
                f"the guest left {column.name} out of a row",
                "the guest program and this package do not belong together: build them again",
            )
        series.append(pl.Series(column.name, values, dtype=kind))
    return pl.DataFrame(series)


def write_tables(
    folder: Path, records: Iterable[Record], knowledge: Callable[[int], Knowledge]
) -> None:
    """Write transfers.parquet, transfers.csv and retransmissions.parquet of a run folder.

    `knowledge` says what the campaign knows of a cell, by the cell's number.
    """
    import polars as pl

    transfers: list[pl.DataFrame] = [_frame(TRANSFERS, {}, [])]
    retransmissions: list[pl.DataFrame] = [_frame(RETRANSMISSIONS, {}, [])]
    for record in records:
        known = knowledge(record.cell)
        transfers.append(_frame(TRANSFERS, known, record.transfers))
        retransmissions.append(_frame(RETRANSMISSIONS, known, record.retransmissions))
    # Stable: rows alike in all keys keep the guest's order.
    table = pl.concat(transfers).sort(TRANSFER_ORDER, maintain_order=True).rechunk()
    resends = pl.concat(retransmissions).sort(RETRANSMISSION_ORDER, maintain_order=True).rechunk()
    _write(folder / "transfers.parquet", partial(table.write_parquet, compression="zstd"))
    _write(folder / "transfers.csv", table.write_csv)
    _write(folder / "retransmissions.parquet", partial(resends.write_parquet, compression="zstd"))


def _write(path: Path, write: Callable[[BytesIO], object]) -> None:
    # By way of memory: of a full disk Polars tells in an error of its own.
    buffer = BytesIO()
    write(buffer)
    with whole(path) as temporary:
        temporary.write_bytes(buffer.getbuffer())
