"""A corpus by hand: a few retransmissions whose claims are known, so that every number can be
counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.trace import rows

from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import RETRANSMISSIONS
from rexmit.tracing.memory import Tables
from rexmit.tracing.source import empty

FLOW = "10.0.0.1:80 > 10.0.0.2:40000"
CLIENT = "10.0.0.2:40000 > 10.0.0.1:80"
DEFAULTS: dict[str, Any] = {"text": "", "integer": 0, "number": 0.0, "boolean": False}

Row = Mapping[str, Any]


def retransmission(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A row of the truth."""
    row = {
        "part": "a",
        "flow": FLOW,
        "seq_start": 1000,
        "seq_end": 2448,
        "mechanism": "rto",
        "need": "needed",
        "dropped": False,
        "sender_ns": 1_000_000_000,
        "switch_ns": None,
        "receiver_ns": None,
    }
    assert not set(values) - set(row), values
    return {**row, **values}


def claim(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A row of the analysis: the server's, backward."""
    row = {c.name: None if c.nullable else DEFAULTS[c.kind] for c in RETRANSMISSIONS}
    row |= {
        "flow": FLOW,
        "direction": "backward",
        "time_ns": 1_000_000_000,
        "seq_start": 1000,
        "seq_end": 2448,
        "mechanism": "rto",
        "need": "needed",
        "confidence": 0.95,
        "certainty": 0.99,
        "need_confidence": 0.9,
    }
    assert not set(values) - set(row), values
    return {**row, **values}


def connection(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A connection of the analysis."""
    return rows.connection(flow=CLIENT, **values)


def truth_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """The truth's rows as a table."""
    at = dict.fromkeys(("sender_ns", "switch_ns", "receiver_ns"), pl.Int64)
    return pl.DataFrame(list(rows), schema_overrides=at)


def claims_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """The analysis' retransmissions as a table."""
    return pl.DataFrame(list(rows), schema=polars_schema(RETRANSMISSIONS))


def tables(retransmissions: Iterable[Row] = (), connections: Iterable[Row] = ()) -> Tables:
    """What an analysis gives."""
    ends = rows.batch(connections=connections)
    return Tables(
        ends["connections"], ends["sides"], claims_frame(retransmissions), empty("account")
    )


def write_corpus(
    path: Path,
    retransmissions: Iterable[Row],
    connections: Iterable[Row] | None = None,
    captures: Iterable[str] = ("a-sender.pcapng",),
) -> Path:
    """A truth folder; its captures are empty files."""
    (path / "captures").mkdir(parents=True)
    for name in captures:
        (path / "captures" / name).touch()
    truth_frame(retransmissions).write_parquet(path / "retransmissions.parquet")
    one = [{"part": "a", "flow": FLOW, "stack": "linux-6.12"}]
    pl.DataFrame(list(connections or one)).write_parquet(path / "connections.parquet")
    meta = {"version": 1, "kind": "kernel", "seed": 7, "kernels": ["6.12"]}
    (path / "truth.json").write_text(json.dumps(meta), encoding="utf-8")
    return path


MS = 1_000_000
TRUTH = [
    retransmission(sender_ns=1000 * MS, mechanism="rto"),
    retransmission(sender_ns=1100 * MS, mechanism="tlp", receiver_ns=1110 * MS),
    retransmission(sender_ns=1200 * MS, mechanism="rack", receiver_ns=1210 * MS),
    retransmission(sender_ns=1300 * MS, mechanism="rack", need="spurious", receiver_ns=1310 * MS),
    retransmission(sender_ns=1400 * MS, mechanism="rto-recovery"),
]
SENDER = [
    claim(time_ns=1000 * MS),
    claim(time_ns=1100 * MS, mechanism="tlp", runner_up="rto", either=True),
    claim(time_ns=1200 * MS, mechanism="rack", need="spurious"),
    claim(time_ns=1300 * MS, mechanism="fast-retransmit", need="spurious"),
    claim(time_ns=1500 * MS, mechanism="rto"),
]
RECEIVER = [
    claim(time_ns=1110 * MS, mechanism="tlp"),
    claim(time_ns=1210 * MS, mechanism="rack"),
    claim(time_ns=1310 * MS, mechanism="unknown", need="unknown"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Five retransmissions at the sender, three of them at the receiver."""
    return write_corpus(
        tmp_path / "truth", TRUTH, captures=("a-sender.pcapng", "a-receiver.pcapng")
    )


def analyse(path: Path, *, timeline: bool = False) -> Tables:  # noqa: ARG001 - as the real one
    """What the hand-made analysis says of the corpus' captures."""
    server = connection(
        backward_stack="linux-6", backward_stack_confidence=0.97, backward_stacks="linux-6"
    )
    return tables(SENDER if "sender" in path.name else RECEIVER, [server])
