"""Rows held against the oracle's account, by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.real.hold import Held, compare
from tests.real.oracle import Seen
from tests.real.packets import ACK, Packet

from rexmit.store.schema import polars_schema
from rexmit.store.trace_schema import RETRANSMISSIONS

SPACE = 1 << 32
FLOW = ("10.0.0.1", 80, "10.0.0.2", 4000)
NAMED = "10.0.0.1:80 > 10.0.0.2:4000"


def seen(kind: str, *, at: int = 1000, seq: int = 500, length: int = 100) -> Seen:
    packet = Packet(at, FLOW, seq, 1, length, ACK, 8192, None, "")
    return Seen(packet, kind, 0, length)


def row(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - any column
    made: dict[str, Any] = {column.name: None for column in RETRANSMISSIONS}
    made |= {"flow": NAMED, "time_ns": 1000, "seq_start": 500, "seq_end": 600}
    assert not set(values) - set(made), values
    return made | values


def held(packets: list[Seen], *rows: dict[str, Any]) -> Held:
    return compare(packets, pl.DataFrame(rows, schema=polars_schema(RETRANSMISSIONS)))


def test_a_certain_one_without_a_row_is_missed() -> None:
    made = held([seen("certain"), seen("certain", at=2000)], row())
    assert (made.certain, made.rows, len(made.missed)) == (2, 1, 1)
    assert made.missed[0].packet.time_ns == 2000


@pytest.mark.parametrize("kind", ["new", "double", "keep-alive", "probe"])
def test_rows_are_counted_by_what_their_packet_is(kind: str) -> None:
    made = held([seen(kind)], row())
    assert made.by_kind == {kind: 1}
    assert (made.on_new, made.doubles) == (kind == "new", kind == "double")


@pytest.mark.parametrize(
    ("values", "same"),
    [
        ({}, True),
        ({"seq_start": 599, "seq_end": 700}, True),
        ({"seq_start": 600, "seq_end": 700}, False),
        ({"seq_start": 400, "seq_end": 501}, True),
        ({"seq_start": 400, "seq_end": 500}, False),
        ({"time_ns": 1001}, False),
        ({"flow": "10.0.0.2:4000 > 10.0.0.1:80"}, False),
    ],
)
def test_flow_time_and_numbers_tell_which_packet_a_row_is_of(
    values: dict[str, Any], same: bool
) -> None:
    made = held([seen("certain")], row(**values))
    assert (not made.missed, made.by_kind["none"]) == (same, not same)


def test_numbers_run_across_the_wrap() -> None:
    packet = seen("certain", seq=SPACE - 50)
    assert not held([packet], row(seq_start=20, seq_end=50)).missed
    assert held([packet], row(seq_start=50, seq_end=60)).missed


def test_captures_add_up() -> None:
    both = held([seen("certain")], row()) + held([seen("certain")]) + held([seen("new")])
    assert (both.files, both.certain, both.rows, len(both.missed)) == (2, 2, 1, 1)
