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

TIMES = ("first_sent", "sender", "switch", "receiver")


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

    retransmissions = [_retransmissions(source) for source in parts]
    connections = [_connections(source) for source in parts]
    for name, parts_of_it in (("retransmissions", retransmissions), ("connections", connections)):
        with whole_file(folder / f"{name}.parquet") as file:
            pl.concat(parts_of_it).write_parquet(file, compression="zstd")


def _read(path: Path) -> pl.DataFrame:
    import polars as pl

    # All as text: what a column is, the schema says.
    return pl.read_csv(path, infer_schema=False)


def _retransmissions(source: Source) -> pl.DataFrame:
    import polars as pl

    nanos = [pl.col(f"{name}_ns").cast(pl.Int64) for name in TIMES]
    frame = _read(source.retransmissions).with_columns(*nanos)
    frame = frame.with_columns((pl.col(f"{name}_ns") / 1e9).alias(f"{name}_s") for name in TIMES)
    return _typed(frame, source, RETRANSMISSIONS)


def _connections(source: Source) -> pl.DataFrame:
    import polars as pl

    start, end = (pl.col(name).cast(pl.Int64) for name in ("start_ns", "end_ns"))
    frame = _read(source.connections).with_columns(
        (start / 1e9).alias("start_s"),
        ((end - start) / 1e9).alias("duration_s"),
    )
    return _typed(frame, source, CONNECTIONS)


def _typed(frame: pl.DataFrame, source: Source, columns: tuple[Column, ...]) -> pl.DataFrame:
    import polars as pl

    frame = frame.with_columns(pl.lit(source.part).alias("part"), pl.lit(source.kind).alias("kind"))

    def typed(name: str, kind: pl.DataType) -> pl.Expr:
        column = pl.col(name)
        if isinstance(kind, pl.Boolean):
            return column == "true"
        return column.cast(kind)

    return frame.select(typed(name, kind) for name, kind in polars_schema(columns).items())
