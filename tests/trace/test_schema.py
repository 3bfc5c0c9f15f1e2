"""The tables of a trace: what they share with a run's, and what files of older formats are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.trace.rows import connection, mechanism, parameter, retransmission, write_trace

from rexmit.errors import UserError
from rexmit.store import schema, trace_schema
from rexmit.store.schema import polars_schema
from rexmit.tracing import sides
from rexmit.tracing.folder import Trace, open_trace
from rexmit.tracing.sentences.retransmissions import LACKS
from rexmit.tracing.summary import summary

ROOT = Path(__file__).parents[2]


def test_a_retransmission_has_the_same_columns_in_a_run_and_in_a_trace() -> None:
    run = {column.name: column for column in schema.RETRANSMISSIONS}
    trace = {column.name: column for column in trace_schema.RETRANSMISSIONS}
    shared = {column.name for column in schema.EVERY_RETRANSMISSION}
    assert {name for name in run if name in trace} == shared
    assert all(run[name] == trace[name] for name in shared)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Two connections with retransmissions of both sides, one without."""
    client = {"direction": "forward", "flow": "10.0.0.2:40000 > 10.0.0.1:80"}
    return write_trace(
        tmp_path / "today",
        connections=[
            connection(connection=n, waited_s=1.0 - n / 2, forward_bytes=n, backward_stack="rfc")
            for n in range(3)
        ],
        mechanisms=[
            mechanism(connection=0, mechanism="mptcp-reinject", spurious=2),
            mechanism(connection=0, needed=1, waited_s=0.75, **client),
            mechanism(connection=0, mechanism="rack", needed=3, waited_s=0.25, **client),
            mechanism(connection=1, spurious=1, waited_s=0.5),
        ],
        parameters=[
            parameter(connection=1, parameter="min_rto_s", value=0.2, low=0.1, high=0.3),
            parameter(connection=1, value=3.0, low=2.0, high=3.0, **client),
        ],
        retransmissions=[retransmission(connection=n) for n in (0, 1)],
    )


def with_sides(trace: Trace) -> pl.DataFrame:
    """Connections as they were kept before their sides had a table."""
    columns = trace_schema.SIDE_ROWS[4:]
    names = [column.name for column in columns]
    wide = sides.beside(trace.scan("connections"), trace, *names).collect()
    assert wide.width == 22 + 2 * len(names)
    return wide


def in_format_3(trace: Trace, path: Path) -> Path:
    """The trace as it was kept before its time had owners."""
    path.mkdir()
    for name in set(trace_schema.TABLES) - {"account"}:
        trace.scan(name).sink_parquet(path / f"{name}.parquet")
    meta = {**trace.meta, "format": 3, "rexmit": "0.1.0"}
    del meta["tables"]
    (path / "trace.json").write_text(json.dumps(meta))
    return path


def in_format_2(trace: Trace, path: Path) -> Path:
    """The trace as it was kept before sides had a table."""
    path.mkdir()
    with_sides(trace).write_parquet(path / "connections.parquet")
    for name in ("mechanisms", "parameters", "retransmissions", "whatif", "whatif_totals"):
        trace.scan(name).sink_parquet(path / f"{name}.parquet")
    meta = {**trace.meta, "format": 2, "rexmit": "0.1.0"}
    del meta["tables"]
    (path / "trace.json").write_text(json.dumps(meta))
    return path


def in_format_1(trace: Trace, path: Path, *, without: str = "") -> Path:
    """The trace as it was kept before mechanisms and parameters had tables, either."""
    path.mkdir()
    wide = with_sides(trace)
    rows = trace.scan("mechanisms").collect()
    for side in trace_schema.SIDES:
        for name in trace_schema.MECHANISMS:
            mine = rows.filter(pl.col("direction") == side, pl.col("mechanism") == name)
            names = {
                what: f"{side}_{name.replace('-', '_')}_{what}"
                for what in ("needed", "spurious", "waited_s")
            }
            wide = wide.join(
                mine.select("connection", *names).rename(names), on="connection", how="left"
            ).with_columns(pl.col(list(names.values())).fill_null(0))
        rows_of = trace.scan("parameters").collect().filter(pl.col("direction") == side)
        for name in ("d", "a", "b", "m", "k", "min_rto_s"):
            ends = {"value": "", "low": "_low", "high": "_high"}
            names = {column: f"{side}_{name}{end}" for column, end in ends.items()}
            mine = rows_of.filter(pl.col("parameter") == name).select("connection", *names)
            wide = wide.join(mine.rename(names), on="connection", how="left")
    wide.drop(without or []).write_parquet(path / "connections.parquet")
    for name in ("retransmissions", "whatif", "whatif_totals"):
        trace.scan(name).sink_parquet(path / f"{name}.parquet")
    meta = {**trace.meta, "format": 1, "rexmit": "0.1.0"}
    del meta["tables"]
    (path / "trace.json").write_text(json.dumps(meta))
    return path


@pytest.mark.parametrize("written", [in_format_1, in_format_2, in_format_3])
def test_a_trace_of_an_older_format_is_read(
    trace: Trace, tmp_path: Path, written: Callable[[Trace, Path], Path]
) -> None:
    older = open_trace(written(trace, tmp_path / "older"))
    for name in trace_schema.TABLES:
        was, now = older.scan(name).collect(), trace.scan(name).collect()
        assert dict(was.schema) == polars_schema(trace_schema.TABLES[name])
        if name == "mechanisms":
            # In the order of the mechanisms, where today's are as they were written.
            was, now = (rows.sort("connection", "direction", "mechanism") for rows in (was, now))
        assert was.equals(now), name
    assert summary(older) == summary(trace)


def test_what_an_older_trace_lacks_is_named(trace: Trace, tmp_path: Path) -> None:
    path = in_format_1(trace, tmp_path / "older", without="forward_rack_needed")
    with pytest.raises(
        UserError, match=r"connections\.parquet: column forward_rack_needed is missing"
    ):
        open_trace(path)


def test_a_side_that_an_older_trace_lacks_is_named(trace: Trace, tmp_path: Path) -> None:
    path = in_format_2(trace, tmp_path / "older")
    file = path / "connections.parquet"
    pl.read_parquet(file).drop("backward_stack").write_parquet(file)
    with pytest.raises(UserError, match=r"connections\.parquet: column backward_stack is missing"):
        open_trace(path)


def test_a_trace_of_another_format_is_refused_with_its_version(trace: Trace) -> None:
    about = {**trace.meta, "format": 5, "rexmit": "9.9.9"}
    (trace.path / "trace.json").write_text(json.dumps(about))
    told = r"has format 5, written by rexmit 9\.9\.9; this program reads formats 1, 2, 3 and 4"
    with pytest.raises(UserError, match=told):
        open_trace(trace.path)


def test_the_page_has_words_for_all_that_may_be_missing() -> None:
    page = (ROOT / "docs/reference/evidence.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| `([\w-]+)` ", page.split("## What is missing")[1], re.MULTILINE)
    assert set(LACKS) == set(words)
