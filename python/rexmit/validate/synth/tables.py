"""From the comma-separated values that Rust writes to the truth's tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.store.files import whole_file
from rexmit.store.schema import Column, polars_schema
from rexmit.validate.synth.schema import CONNECTIONS, RETRANSMISSIONS

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Source:
    """A part and its two CSV files."""

    part: str
    kind: str
    retransmissions: Path
    connections: Path


def write(parts: Sequence[Source], folder: Path) -> None:
    """Write retransmissions.parquet and connections.parquet of `parts`."""
    import polars as pl

    retransmissions = [_read(part, part.retransmissions, RETRANSMISSIONS) for part in parts]
    connections = [_read(part, part.connections, CONNECTIONS) for part in parts]
    for name, parts_of_it in (("retransmissions", retransmissions), ("connections", connections)):
        with whole_file(folder / f"{name}.parquet") as file:
            pl.concat(parts_of_it).write_parquet(file, compression="zstd")


def _read(source: Source, path: Path, columns: tuple[Column, ...]) -> pl.DataFrame:
    import polars as pl

    known = {"part": source.part, "kind": source.kind}

    def typed(column: Column, kind: pl.DataType) -> pl.Expr:
        if column.field is None:
            return pl.lit(known[column.name]).alias(column.name)
        field, per = column.field
        if column.kind == "boolean":
            value = pl.col(field) == "true"
        elif per != 1:
            value = pl.col(field).cast(pl.Int64) / per
        else:
            value = pl.col(field).cast(kind)
        return value.alias(column.name)

    # All as text: what a column is, the schema says.
    rows = pl.read_csv(path, infer_schema=False)
    types = polars_schema(columns).values()
    return rows.select(typed(column, kind) for column, kind in zip(columns, types, strict=True))
