"""What one cell of a campaign gave: kept in `partial/` until the run ends.

A record is a file per cell, written when the cell has ended: two lines of JSON and the tables that
have rows, each a stream of Arrow's. They still lack what the campaign knows of the cell:
`store.tables` makes the tables of a run of them. The first line has the digest of all that follows:
a bit that flips on the disk would pass for another number.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rexmit.store.files import write_bytes
from rexmit.store.plain_json import list_of, loads, mapping_of, number, shape, whole
from rexmit.store.rows import TABLES, told
from rexmit.store.schema import polars_schema

if TYPE_CHECKING:
    import polars as pl

FORMAT: Final = 9


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


def _words(value: object, where: str) -> None:
    """Whatever an engine wrote, halves of pairs too."""
    if not isinstance(value, str):
        raise ValueError(f"{where} must be text")


_FIELDS: Final = {
    "cell": whole(),
    "ignored": list_of(mapping_of(_words)),
    "warnings": list_of(_words),
    "virtual_ns": whole(),
    "cpu_s": number(),
    "peak_memory_bytes": whole(),
    "late": mapping_of(whole(least=-(2**63))),
}
"""What the second line has of a record, beside how many bytes each of its tables takes."""

_CHECK: Final = shape(_FIELDS | {"tables": mapping_of(whole())}, needed=(*_FIELDS, "tables"))


def write(record: Record, path: Path) -> None:
    """Write the record of a cell that did not fail, whole or not at all."""
    tables = {name: _packed(rows) for name, rows in record.tables.items() if rows.height}
    plain = {name: getattr(record, name) for name in _FIELDS}
    plain["tables"] = {name: len(packed) for name, packed in tables.items()}
    line = json.dumps(plain, separators=(",", ":")).encode()
    write_bytes(path, headed(b"\n".join((line, b"".join(tables.values())))))


def headed(body: bytes) -> bytes:
    """A record whose first line belongs to what follows it."""
    return _head(body) + body


def _head(body: bytes) -> bytes:
    digest = hashlib.blake2b(body, digest_size=16).hexdigest()
    return json.dumps({"format": FORMAT, "blake2b": digest}).encode() + b"\n"


def read(path: Path) -> Record:
    """A record that `write` wrote. Raises ValueError for anything else, OSError as it comes."""
    head, _, body = path.read_bytes().partition(b"\n")
    if head + b"\n" != _head(body):
        raise ValueError("its digest is another, or another version of rexmit wrote it")
    line, _, packed = body.partition(b"\n")
    plain = loads(line.decode())
    _CHECK(plain, "")
    sizes, tables = plain.pop("tables"), {}
    if plain.keys() != set(_FIELDS) or not sizes.keys() <= TABLES.keys():
        raise ValueError("it has other fields")
    for name in TABLES:
        size = sizes.get(name, 0)
        tables[name], packed = _unpacked(name, packed[:size]), packed[size:]
    return Record(**plain, tables=tables)


def _packed(rows: pl.DataFrame) -> bytes:
    stream = io.BytesIO()
    rows.write_ipc_stream(stream)
    return stream.getvalue()


def _unpacked(name: str, packed: bytes) -> pl.DataFrame:
    import polars as pl

    from rexmit.store import checked

    columns = told(TABLES[name])
    schema = polars_schema(columns)
    if not packed:
        return pl.DataFrame(schema=schema)
    try:
        frame = pl.read_ipc_stream(io.BytesIO(packed))
    except checked.UNREADABLE as error:
        raise ValueError(f"it is no table ({checked.line(error)})") from None
    if list(frame.schema.items()) != list(schema.items()):
        raise ValueError("a table has other columns")
    for column in columns:
        if not column.nullable and frame[column.name].has_nulls():
            raise ValueError(f"{column.name} is missing in a row")
    return frame
