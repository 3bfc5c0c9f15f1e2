"""The tables of a trace: what they share with a run's, and what of another form is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.trace.rows import connection, write_trace

from rexmit.errors import UserError
from rexmit.store import schema, trace_schema
from rexmit.tracing.folder import Trace, open_trace
from rexmit.tracing.sentences.retransmissions import LACKS

ROOT = Path(__file__).parents[2]


def test_a_retransmission_has_the_same_columns_in_a_run_and_in_a_trace() -> None:
    run = {column.name: column for column in schema.RETRANSMISSIONS}
    trace = {column.name: column for column in trace_schema.RETRANSMISSIONS}
    shared = {column.name for column in schema.EVERY_RETRANSMISSION}
    assert {name for name in run if name in trace} == shared
    assert all(run[name] == trace[name] for name in shared)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return write_trace(tmp_path / "today", connections=[connection()])


@pytest.mark.parametrize("name", trace_schema.TABLES)
def test_a_column_that_a_trace_lacks_is_named(trace: Trace, name: str) -> None:
    file = trace.path / f"{name}.parquet"
    rows = pl.read_parquet(file)
    column = trace_schema.TABLES[name][-1].name
    rows.drop(column).write_parquet(file)
    about = dict(trace.meta)
    del about["tables"]
    (trace.path / "trace.json").write_text(json.dumps(about))
    with pytest.raises(UserError, match=rf"{name}\.parquet: column {column} is missing"):
        open_trace(trace.path)


@pytest.mark.parametrize("found", [3, 5])
def test_a_trace_of_another_format_is_refused_with_its_version(trace: Trace, found: int) -> None:
    about = {**trace.meta, "format": found, "rexmit": "9.9.9"}
    (trace.path / "trace.json").write_text(json.dumps(about))
    told = rf"has format {found}, written by rexmit 9\.9\.9; this program reads format 4"
    with pytest.raises(UserError, match=told):
        open_trace(trace.path)


def test_the_page_has_words_for_all_that_may_be_missing() -> None:
    page = (ROOT / "docs/reference/evidence.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| `([\w-]+)` ", page.split("## What is missing")[1], re.MULTILINE)
    assert set(LACKS) == set(words)
