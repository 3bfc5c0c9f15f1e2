"""Records of cells: what is written is what is read, and what is no record is told from one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rexmit.store import record
from rexmit.store.record import Record
from rexmit.store.rows import TABLES, told
from rexmit.store.schema import polars_schema

VALUES = {"text": "é", "integer": 2**53 + 1, "number": 0.1, "boolean": True}


def rows(name: str, count: int) -> pl.DataFrame:
    """A table with as many rows, their nullable columns null in the first."""
    columns = told(TABLES[name])
    made = [
        {
            column.name: None if column.nullable and row == 0 else VALUES[column.kind]
            for column in columns
        }
        for row in range(count)
    ]
    return pl.DataFrame(made, schema=polars_schema(columns))


def written(folder: Path, **tables: pl.DataFrame) -> Path:
    """The file of a record with these tables, the others empty."""
    path = folder / "x.record"
    every = {name: rows(name, 0) for name in TABLES} | tables
    record.write(Record(cell=3, tables=every, warnings=["w"], late={"packets": 1}), path)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    transfers = rows("transfers", 3)
    found = record.read(written(tmp_path, transfers=transfers))
    assert (found.cell, found.warnings, found.late) == (3, ["w"], {"packets": 1})
    assert found.tables["transfers"].equals(transfers)
    assert found.tables["bursts"].equals(rows("bursts", 0))
    assert found.tables["bursts"].schema == rows("bursts", 0).schema
    assert found.tables.keys() == TABLES.keys()


def test_a_table_with_other_columns_is_none(tmp_path: Path) -> None:
    other = rows("transfers", 2).drop("repetition")
    with pytest.raises(ValueError, match="a table has other columns"):
        record.read(written(tmp_path, transfers=other))


def test_a_value_that_is_missing_is_seen(tmp_path: Path) -> None:
    lacking = rows("transfers", 2).with_columns(repetition=pl.lit(None, pl.Int64))
    with pytest.raises(ValueError, match="repetition is missing in a row"):
        record.read(written(tmp_path, transfers=lacking))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b'"transfers":', b'"others":', "it has other fields"),
        (b'"cell":', b'"sell":', "cell is missing"),
        (b'"cell":3', b'"cell":-3', "cell must be a whole number"),
        (b'"tables":{', b'"tables":0,"x":{', "tables must be a mapping"),
        (b'{"cell":3', b'[{"cell":3', "Expecting ',' delimiter"),
        (b"\n\xff\xff\xff\xff", b"\n\xff\xff\xff\x7f", "it is no table"),
    ],
)
def test_what_is_no_record_says_so(tmp_path: Path, old: bytes, new: bytes, why: str) -> None:
    path = written(tmp_path, transfers=rows("transfers", 2))
    _, _, body = path.read_bytes().partition(b"\n")
    assert old in body
    path.write_bytes(record.headed(body.replace(old, new, 1)))
    with pytest.raises(ValueError, match=why):
        record.read(path)
