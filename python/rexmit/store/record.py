"""What one cell of a campaign gave, as the guest said it: kept in `partial/` until the run ends.

A record is a file of two lines of JSON per cell, written when its kernel has ended. Times are
still in nanoseconds and rows still lack what the campaign knows of the cell; `store.tables` makes
the tables of it. The first line has the digest of the second: a digit that flips on the disk would
pass for another number.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from rexmit.store.files import write_text
from rexmit.store.plain_json import loads
from rexmit.store.rows import TABLES, Table

FORMAT: Final = 5


@dataclass(slots=True)
class FailedCell:
    """A cell without rows, and why."""

    cell: int
    label: str
    message: str
    console_tail: list[str]


@dataclass(slots=True)
class Record:
    """A cell whose kernel has ended: its rows, and what a reader of the run should know."""

    cell: int
    transfers: list[dict[str, Any]] = field(default_factory=list)
    retransmissions: list[dict[str, Any]] = field(default_factory=list)
    bursts: list[dict[str, Any]] = field(default_factory=list)
    subflows: list[dict[str, Any]] = field(default_factory=list)
    failed: FailedCell | None = None
    ignored: list[dict[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    virtual_ns: int = 0
    cpu_s: float = 0.0
    peak_memory_bytes: int = 0

    def rows(self, table: Table) -> list[dict[str, Any]]:
        """Its rows of a table."""
        found: list[dict[str, Any]] = getattr(self, table.name)
        return found


_FIELDS: Final = tuple(entry.name for entry in fields(Record) if entry.name != "failed")


def write(record: Record, path: Path) -> None:
    """Write the record of a cell that did not fail, whole or not at all."""
    text = json.dumps({name: getattr(record, name) for name in _FIELDS}, separators=(",", ":"))
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
        record = Record(**plain)
        if plain.keys() != set(_FIELDS):
            raise ValueError("a field is missing")
        whole = all(table.fits(row) for table in TABLES for row in record.rows(table))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no record ({error})") from None
    if not whole:
        raise ValueError("a row has other fields")
    return record
