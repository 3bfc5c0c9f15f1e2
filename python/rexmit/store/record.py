"""What one cell of a campaign gave: kept in `partial/` until the run ends.

A record is a file of two lines of JSON per cell, written when the cell has ended; its tables are
there column by column. They still lack what the campaign knows of the cell: `store.tables` makes
the tables of a run of them. The first line has the digest of the second: a digit that flips on the
disk would pass for another number.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rexmit.store.files import write_text
from rexmit.store.plain_json import loads
from rexmit.store.rows import TABLES, told
from rexmit.store.schema import polars_schema

if TYPE_CHECKING:
    import polars as pl

FORMAT: Final = 8


@dataclass(slots=True)
class FailedCell:
    """A cell without rows, and why."""

    cell: int
    label: str
    message: str
    console_tail: list[str]
    splat: tuple[str, ...] = ()
    """What the kernel said of a defect of its own, in lines."""


@dataclass(slots=True)
class Record:
    """A cell that has ended: its rows, and what a reader of the run should know."""

    cell: int
    tables: dict[str, pl.DataFrame] = field(default_factory=dict)
    """By name, with the columns that an engine tells; empty where the cell failed."""
    failed: FailedCell | None = None
    ignored: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    virtual_ns: int = 0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0
    late: dict[str, int] = field(default_factory=dict)
    """How late packets left links that are a program, nanoseconds; empty of other links."""

    @property
    def transfers(self) -> int:
        """How many it has."""
        return self.tables["transfers"].height if self.tables else 0

    def plain(self) -> dict[str, Any]:
        """What is kept of a cell that did not fail."""
        tables = {name: frame.to_dict(as_series=False) for name, frame in self.tables.items()}
        return {name: getattr(self, name) for name in _FIELDS} | {"tables": tables}


_FIELDS: Final = tuple(entry.name for entry in fields(Record) if entry.name != "failed")


def write(record: Record, path: Path) -> None:
    """Write the record of a cell that did not fail, whole or not at all."""
    text = json.dumps(record.plain(), separators=(",", ":"))
    write_text(path, f"{_head(text)}\n{text}\n")


def _head(text: str) -> str:
    """The first line of a record with this text."""
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return json.dumps({"format": FORMAT, "blake2b": digest})


def read(path: Path) -> Record:
    """A record that `write` wrote. Raises ValueError for anything else, OSError as it comes."""
    try:
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
        if head != _head(text.removesuffix("\n")):
            raise ValueError("its digest is another, or another version of rexmit wrote it")
        plain = loads(text)
        if plain.keys() != set(_FIELDS) or plain["tables"].keys() != TABLES.keys():
            raise ValueError("it has other fields")
        tables = {name: _frame(name, columns) for name, columns in plain["tables"].items()}
        return Record(**plain | {"tables": tables})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no record ({error})") from None


def _frame(name: str, rows: dict[str, list[Any]]) -> pl.DataFrame:
    import polars as pl

    columns = told(TABLES[name])
    if list(rows) != [column.name for column in columns]:
        raise ValueError("a table has other columns")
    try:
        frame = pl.DataFrame(rows, schema=polars_schema(columns), strict=True)
    except (pl.exceptions.PolarsError, OverflowError) as error:
        raise ValueError(f"it is no table ({error})") from None
    for column in columns:
        if not column.nullable and frame[column.name].has_nulls():
            raise ValueError(f"{column.name} is missing in a row")
    return frame
