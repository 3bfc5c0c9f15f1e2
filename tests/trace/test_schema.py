"""The tables of a trace: what they share with a run's, and with the words of the machines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rexmit.store import schema, trace_schema
from rexmit.store.schema import Column, polars_schema

ROOT = Path(__file__).parents[2]


def test_a_retransmission_has_the_same_columns_in_a_run_and_in_a_trace() -> None:
    run = {column.name: column for column in schema.RETRANSMISSIONS}
    trace = {column.name: column for column in trace_schema.RETRANSMISSIONS}
    shared = {column.name for column in schema.EVERY_RETRANSMISSION}
    assert {name for name in run if name in trace} == shared
    assert all(run[name] is trace[name] for name in shared)


@pytest.mark.parametrize("name", trace_schema.TABLES)
def test_every_name_stands_once_and_has_a_meaning(name: str) -> None:
    columns: tuple[Column, ...] = trace_schema.TABLES[name]
    assert len(polars_schema(columns)) == len(columns)
    assert all(column.meaning for column in columns)


def test_the_words_are_those_of_the_machines_in_their_order() -> None:
    source = (ROOT / "crates/tcp/src/words.rs").read_text(encoding="utf-8")
    words = source.partition("    Mechanism,\n")[2].partition(");")[0]
    assert tuple(re.findall(r'= "([a-z-]+)"', words)) == trace_schema.MECHANISMS
