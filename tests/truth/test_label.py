"""Need by what arrived, and every retransmission joined with its record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rexmit_validate.truth.causes import Cause
from rexmit_validate.truth.follow import SentPacket, follow
from rexmit_validate.truth.label import Flow, MismatchError, flows, join
from rexmit_validate.truth.packets import PointPacket

FLOW = "10.0.0.1:80 > 10.0.0.2:40000"
MS = 1_000_000
ISN = (1 << 32) - 500
"""Sequence numbers wrap within the first segment."""


def packet(
    at_ms: float, seq: int, payload: int = 0, flags: int = 0x10, name: str = ""
) -> PointPacket:
    """`seq` counts from the SYN's, which is 0."""
    whole = (ISN + seq) % (1 << 32)
    length = payload + (flags & 1) + (flags >> 1 & 1)
    time_ns = round(at_ms * MS)
    return PointPacket(time_ns, FLOW, whole, length, payload, flags, (name or f"{at_ms}").encode())


def sent(*packets: tuple[PointPacket, float | None]) -> Flow:
    """The flow of packets and when each arrived, ms."""
    syn = SentPacket(packet(0, 0, flags=2), None, 5 * MS)
    rest = [SentPacket(one, None, None if at is None else round(at * MS)) for one, at in packets]
    return flows([syn, *rest])[FLOW]


def record(
    packet: PointPacket, segments: int = 1, stamp_ns: int | None = None, cause: str = "queue"
) -> Cause:
    stamp = packet.time_ns - 1000 if stamp_ns is None else stamp_ns
    end = (packet.seq + packet.length) % (1 << 32)
    numbers = {"sack": 1, "rack": 1, "high": 9, "segs": segments}
    return Cause(FLOW, stamp, packet.seq, end, cause, "recovery", numbers)


def needs(flow: Flow) -> list[bool]:
    return [retransmission.needed for retransmission in flow.retransmissions]


def test_what_was_lost_is_needed_and_what_arrived_is_not() -> None:
    lost = sent((packet(1, 1, 1000), None), (packet(50, 1, 1000), 60))
    assert needs(lost) == [True]
    late = sent((packet(1, 1, 1000), 70), (packet(50, 1, 1000), 60))
    assert needs(late) == [False]


def test_a_second_retransmission_is_needed_only_if_the_first_was_lost_too() -> None:
    first = (packet(1, 1, 1000), None)
    again = packet(90, 1, 1000)
    assert needs(sent(first, (packet(50, 1, 1000), None), (again, 95))) == [True, True]
    assert needs(sent(first, (packet(50, 1, 1000), 55), (again, 95))) == [True, False]


def test_one_lost_byte_makes_a_whole_retransmission_needed() -> None:
    flow = sent(
        (packet(1, 1, 1000), 5),
        (packet(2, 1001, 1000), None),
        (packet(3, 2001, 1000), 7),
        (packet(50, 1, 3000), 55),
        (packet(60, 1, 1000), 65),
    )
    assert needs(flow) == [True, False]


def test_pieces_of_several_packets_cover_a_retransmission() -> None:
    flow = sent((packet(1, 1, 500), 5), (packet(2, 501, 500), 4), (packet(50, 1, 1000), 55))
    assert needs(flow) == [False]


def test_syn_and_fin_count_as_a_byte() -> None:
    syn = flows([SentPacket(packet(0, 0, flags=2)), SentPacket(packet(1000, 0, flags=2), None, 1)])[
        FLOW
    ]
    assert needs(syn) == [True]
    fin = sent(
        (packet(1, 1, 10), 2), (packet(3, 11, flags=0x11), None), (packet(9, 1, 10, 0x11), 10)
    )
    assert needs(fin) == [True]


def test_first_sent_is_when_the_first_byte_was() -> None:
    flow = sent((packet(1, 1, 500), 5), (packet(2, 501, 500), None), (packet(50, 501, 500), 55))
    assert [retransmission.first_sent_ns for retransmission in flow.retransmissions] == [2 * MS]
    assert (flow.bytes, flow.segments, flow.lost) == (1001, 4, 1)


def test_acknowledgements_and_window_probes_are_no_retransmissions() -> None:
    flow = sent((packet(1, 1, 500), 5), (packet(2, 501), 6), (packet(3, 500), 7))
    assert flow.retransmissions == []


def test_a_record_is_joined_with_its_packets() -> None:
    first, second = packet(50, 1, 1000), packet(50.001, 1001, 1000)
    flow = sent((packet(1, 1, 2000), None), (first, 60), (second, None))
    whole = replace(record(first), end_seq=(second.seq + 1000) % (1 << 32))
    join({FLOW: flow}, {FLOW: [whole]}, 0)
    assert [retransmission.mechanism for retransmission in flow.retransmissions] == ["rack", "rack"]


def test_a_retransmission_without_a_record_is_refused() -> None:
    again = packet(50, 1, 1000)
    flow = sent((packet(1, 1, 1000), None), (again, 60))
    with pytest.raises(MismatchError, match="has no cause"):
        join({FLOW: flow}, {}, 0)


def test_a_record_without_a_retransmission_is_refused() -> None:
    again = packet(50, 1, 1000)
    flow = sent((packet(1, 1, 1000), 5))
    with pytest.raises(MismatchError, match="no such packet"):
        join({FLOW: flow}, {FLOW: [record(again)]}, 0)
    with pytest.raises(MismatchError, match="no such packet"):
        join({}, {FLOW: [record(again)]}, 0)


def test_a_record_of_other_bytes_or_another_time_is_refused() -> None:
    again = packet(50, 1, 1000)
    flow = sent((packet(1, 1, 2000), None), (again, 60))
    with pytest.raises(MismatchError, match="the capture has"):
        join({FLOW: flow}, {FLOW: [record(packet(50, 1001, 1000))]}, 0)
    with pytest.raises(MismatchError, match="later"):
        join({FLOW: flow}, {FLOW: [record(again, stamp_ns=10 * MS)]}, 0)
    join({FLOW: flow}, {FLOW: [record(again, stamp_ns=10 * MS)]}, 40 * MS)


def test_packets_are_followed_by_their_bytes() -> None:
    near = [packet(1, 1, 10, name="a"), packet(2, 11, 10, name="b"), packet(3, 21, 10, name="c")]
    switch = [packet(12, 11, 10, name="b"), packet(13, 1, 10, name="a")]
    far = [packet(22, 11, 10, name="b"), packet(23, 11, 10, name="b")]
    found = [(one.switch_ns, one.arrived_ns) for one in follow(near, switch, far)]
    assert found == [(13 * MS, None), (12 * MS, 22 * MS), (None, None)]


def test_packets_alike_come_out_latest_first() -> None:
    near = [packet(0, 0, flags=0x12, name="x"), packet(1000, 0, flags=0x12, name="x")]
    lost = follow(near, [], [packet(1010, 0, flags=0x12, name="x")])
    assert [one.arrived_ns for one in lost] == [None, 1010 * MS]
    both = [packet(10, 0, name="x"), packet(1010, 0, name="x")]
    assert [one.arrived_ns for one in follow(near, [], both)] == [10 * MS, 1010 * MS]
