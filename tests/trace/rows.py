"""Rows of a trace's tables by hand, and folders of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from rexmit.store.schema import Column, polars_schema
from rexmit.store.trace_schema import (
    CONNECTIONS,
    MECHANISM_COUNTS,
    PARAMETERS,
    RETRANSMISSIONS,
    SIDE_ROWS,
    SIDES,
    TABLES,
    WHATIF,
    WHATIF_TOTALS,
)
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.source import Batch, Facts

CLIENT = "10.0.0.2:40000 > 10.0.0.1:80"
SERVER = "10.0.0.1:80 > 10.0.0.2:40000"

Row = Mapping[str, Any]

_PLAIN: dict[str, Any] = {"text": "", "integer": 0, "number": 0.0, "boolean": False}


def _row(columns: tuple[Column, ...], usual: Row, values: Row) -> dict[str, Any]:
    made = {c.name: None if c.nullable else _PLAIN[c.kind] for c in columns}
    unknown = set(usual) | set(values)
    assert not unknown - set(made), unknown - set(made)
    return {**made, **usual, **values}


def retransmission(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A retransmission of the server, as a timeout that was needed."""
    usual = {
        "capture": "x.pcap",
        "flow": SERVER,
        "direction": "backward",
        "time_s": 1.0,
        "time_ns": 1_000_000_000,
        "seq_start": 1000,
        "seq_end": 2448,
        "length_bytes": 1448,
        "mechanism": "rto",
        "need": "needed",
        "evidence": "none",
        "episode_cause": "rto",
        "copy": 1,
        "confidence": 0.95,
    }
    return _row(RETRANSMISSIONS, usual, values)


def detected(rtts: float, moving_rtt_s: float = 0.125) -> dict[str, float]:
    """Columns of a retransmission so many round trips after its original."""
    return {"first_sent_s": 1.0 - rtts * moving_rtt_s, "moving_rtt_s": moving_rtt_s}


def connection(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A connection without trouble, and of its sides what is said: `forward_bytes=10`. `batch`
    makes rows of both tables of it."""
    usual = {"capture": "x.pcap", "flow": CLIENT, "closed": "fin"}
    own = {name: value for name, value in values.items() if not name.startswith(_OF_SIDES)}
    rest = {name: value for name, value in values.items() if name not in own}
    row = _row(CONNECTIONS, usual, own)
    for side in SIDES:
        _side(row | rest, side)
    return row | rest


_OF_SIDES = tuple(f"{side}_" for side in SIDES)


def _side(row: Row, side: str) -> dict[str, Any]:
    """The row of a connection's side."""
    client, _, server = row["flow"].partition(" > ")
    keys = {"capture": row["capture"], "connection": row["connection"], "direction": side}
    flow = f"{server} > {client}" if side == "backward" else row["flow"]
    told = {name: value for name, value in row.items() if name.startswith(f"{side}_")}
    own = {name.removeprefix(f"{side}_"): value for name, value in told.items()}
    return _row(SIDE_ROWS, keys | {"flow": flow}, own)


def mechanism(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """What the server sent again after timeouts: nothing, unless said."""
    usual = {"capture": "x.pcap", "flow": SERVER, "direction": "backward", "mechanism": "rto"}
    return _row(MECHANISM_COUNTS, usual, values)


def parameter(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A threshold of the server's."""
    usual = {"capture": "x.pcap", "flow": SERVER, "direction": "backward", "parameter": "d"}
    return _row(PARAMETERS, usual, values)


def whatif(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """Another setting, without effect."""
    usual = {"capture": "x.pcap", "flow": SERVER, "direction": "backward", "setting": "k=2"}
    return _row(WHATIF, usual, values)


def whatif_total(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A setting of a grid, without effect."""
    return _row(WHATIF_TOTALS, {"capture": "x.pcap", "stack": "none", "setting": "k=2"}, values)


def share(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """Time of the direction that was waited for: the server's, one stretch, unless said."""
    usual = {
        "capture": "x.pcap",
        "flow": SERVER,
        "direction": "backward",
        "owner": "server",
        "asked": True,
        "stretches": 1,
    }
    length_ns = values.get("length_ns", 0)
    slow = length_ns >= 200_000_000
    usual |= {"longest_ns": length_ns, "slow": int(slow), "slow_ns": length_ns if slow else 0}
    usual |= {"slow_least_ns": length_ns if slow else None, "evidence_ns": length_ns}
    return _row(TABLES["account"], usual, values)


def request(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    """A request of HTTP that was answered at once."""
    usual = {
        "capture": "x.pcap",
        "flow": CLIENT,
        "kind": "http",
        "requests": 1,
        "owner": "round-trip",
        "method": "GET",
    }
    start_ns = values.get("start_ns", 0)
    usual |= dict.fromkeys(("asked_ns", "first_ns", "last_ns"), start_ns)
    return _row(TABLES["requests"], usual, values)


def batch(**rows: Iterable[Row]) -> Batch:
    """Rows by table; those of connections with their sides."""
    tables = {name: list(some) for name, some in rows.items()}
    if (both := tables.get("connections")) is not None:
        tables["sides"] = [_side(row, side) for row in both for side in SIDES]
        tables["connections"] = [
            {name: value for name, value in row.items() if not name.startswith(_OF_SIDES)}
            for row in both
        ]
    return {
        name: pl.DataFrame(some, schema=polars_schema(TABLES[name]))
        for name, some in tables.items()
    }


class Given:
    """A source of batches that are there already."""

    def __init__(self, batches: Iterable[Batch], facts: Facts | None = None) -> None:
        self._batches = list(batches)
        self._facts = facts or Facts()

    def next_batch(self, _within_s: float | None) -> Batch | None:
        return self._batches.pop(0) if self._batches else None

    def progress(self) -> int:
        return self._facts.packets

    def facts(self) -> Facts:
        return replace(self._facts)


def write_trace(
    path: Path,
    *,
    connections: Iterable[Row] = (),
    mechanisms: Iterable[Row] = (),
    parameters: Iterable[Row] = (),
    retransmissions: Iterable[Row] = (),
    whatif: Iterable[Row] = (),
    whatif_totals: Iterable[Row] = (),
    account: Iterable[Row] = (),
    requests: Iterable[Row] = (),
    facts: Facts | None = None,
    captures: tuple[str, ...] = ("x.pcap",),
    replace: bool = False,
) -> Trace:
    """A folder as `rexmit trace --out` writes it."""
    with Writer(path, replace=replace) as writer:
        writer.add(batch(connections=connections, mechanisms=mechanisms))
        writer.add(batch(parameters=parameters, retransmissions=retransmissions))
        writer.add(batch(whatif=whatif, whatif_totals=whatif_totals, account=account))
        writer.add(batch(requests=requests))
        return writer.finish(facts or Facts(), {"captures": list(captures)})
