"""The tables of a trace as they grow: rows in memory, and parts on the disk when there are many."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from rexmit.store.files import whole_file
from rexmit.store.opening import inner_folder
from rexmit.store.trace_schema import TABLES
from rexmit.tracing.source import Batch


class TableParts:
    """Rows of all tables. So many values of a table wait in memory for a part of it to be written,
    a file in `folder`, which is made when the first is. Parts that are `lasting` are packed well,
    and say which values they have; others are read once.
    """

    def __init__(self, folder: Path, most_values: int, *, lasting: bool) -> None:
        self.folder = folder
        self._most_values, self._lasting = most_values, lasting
        self.waiting: dict[str, list[pl.DataFrame]] = {name: [] for name in TABLES}
        self.files: dict[str, list[Path]] = {name: [] for name in TABLES}
        self.heights: dict[str, list[int]] = {name: [] for name in TABLES}
        """Rows of each file that was written here."""

    def add(self, batch: Batch) -> None:
        """Keeps the rows of a batch; they are on the disk when there are many."""
        for name, rows in batch.items():
            if rows.height:
                self.waiting[name].append(rows)
                waiting = sum(frame.height for frame in self.waiting[name])
                if waiting * rows.width >= self._most_values:
                    self.flush(name)

    def flush(self, name: str) -> None:
        """Writes the rows of a table that wait in memory."""
        if not self.waiting[name]:
            return
        rows = pl.concat(self.waiting[name])
        with whole_file(self._next(name)) as file:
            if self._lasting:
                # The usual level packs by a fiftieth more, in a tenth more time.
                rows.write_parquet(file, compression="zstd", compression_level=1)
            else:
                # Statistics would say what to leave out.
                rows.write_parquet(file, compression="lz4", statistics=False)
        self.heights[name].append(rows.height)
        self.waiting[name] = []

    def take(self, name: str, part: Path) -> None:
        """A file of this file system becomes the next part of a table of which no rows wait."""
        part.rename(self._next(name))

    def _next(self, name: str) -> Path:
        inner_folder(self.folder)
        files = self.files[name]
        files.append(self.folder / file_name(name, len(files)))
        return files[-1]


def file_name(table: str, number: int) -> str:
    """The name of a part of a table, by its number from 0 on."""
    return f"{table}-{number:06}.parquet"


def values(table: str, rows: int) -> int:
    """How many values so many rows of a table have."""
    return rows * len(TABLES[table])
