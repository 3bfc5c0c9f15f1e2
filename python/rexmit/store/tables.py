"""From the guest's rows to the tables of a run: names, units, order; parquet and CSV.

The tables depend on the rows alone: the same rows give the same bytes, however they came together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rexmit.errors import UserError
from rexmit.store.files import whole
from rexmit.store.record import Record
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

KNOWN: Final = frozenset(
    {
        "network",
        "config",
        "lost_segments",
        "congestion_control",
        "client",
        "loss_mode",
        "page_segments",
        "receive_window_bytes",
        "line_loss",
        "cell",
    }
)
"""Columns that come from the cell."""

_FROM_MICROSECONDS: Final = {"srtt_s": "srtt_us", "rto_s": "rto_us"}


def _guest_field(column: Column) -> tuple[str, int]:
    """The guest's name of a column, and how many of its units make one of ours (1: as it is)."""
    if column.name in _FROM_MICROSECONDS:
        return _FROM_MICROSECONDS[column.name], 1_000_000
    if column.name.endswith("_s"):
        return f"{column.name[:-2]}_ns", 1_000_000_000
    return column.name, 1


def guest_fields(columns: tuple[Column, ...]) -> frozenset[str]:
    """The fields that a row of the guest must have."""
    return frozenset(_guest_field(column)[0] for column in columns if column.name not in KNOWN)


TRANSFER_FIELDS: Final = guest_fields(TRANSFERS)
RETRANSMISSION_FIELDS: Final = guest_fields(RETRANSMISSIONS)


def _frame(columns: tuple[Column, ...], rows: list[tuple[Knowledge, Row]]) -> pl.DataFrame:
    import polars as pl

    series: list[pl.Series] = []
    for column, kind in zip(columns, polars_schema(columns).values(), strict=True):
        values: list[Any]
        if column.name in KNOWN:
            values = [knowledge[column.name] for knowledge, _ in rows]
        else:
            name, scale = _guest_field(column)
            values = [row[name] for _, row in rows]
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
    """Write transfers.parquet, transfers.csv and retransmissions.parquet of a run folder."""
    import polars as pl

    transfers: list[pl.DataFrame] = [_frame(TRANSFERS, [])]
    retransmissions: list[pl.DataFrame] = [_frame(RETRANSMISSIONS, [])]
    for record in records:
        known = {cell: knowledge(cell) for cell in record.rows}
        transfers.append(
            _frame(
                TRANSFERS,
                [
                    (known[cell], row)
                    for cell, rows in record.rows.items()
                    for row in rows.transfers
                ],
            )
        )
        retransmissions.append(
            _frame(
                RETRANSMISSIONS,
                [
                    (known[cell], row)
                    for cell, rows in record.rows.items()
                    for row in rows.retransmissions
                ],
            )
        )
    # Stable: rows alike in all keys keep the guest's order.
    table = pl.concat(transfers).sort(TRANSFER_ORDER, maintain_order=True).rechunk()
    resends = pl.concat(retransmissions).sort(RETRANSMISSION_ORDER, maintain_order=True).rechunk()
    with whole(folder / "transfers.parquet") as path:
        table.write_parquet(path, compression="zstd")
    with whole(folder / "transfers.csv") as path:
        table.write_csv(path)
    with whole(folder / "retransmissions.parquet") as path:
        resends.write_parquet(path, compression="zstd")
