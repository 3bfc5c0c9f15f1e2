"""Packets without identifications: doubles, retransmissions, and what may be either."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.real import oracle, packets, rebuilt
from tests.real.hold import Held, hold
from tests.real.packets import ACK, SYN
from tests.real.rebuilt import MSS, Sent, a_flow, acked, data, opened

# tshark reads their captures.
pytestmark = pytest.mark.tools


def held(folder: Path, sent: Iterable[Sent]) -> Held:
    """What the analyser says of packets without identifications, in the order of their times."""
    ordered = sorted(sent, key=lambda one: one.ms)
    return hold(rebuilt.write(folder / "x.pcap", [replace(one, ip_id=0) for one in ordered]))


def twice(sent: list[Sent], later: float, ttl: int = 64) -> list[Sent]:
    """Each packet with data, and the first SYN, once more."""
    again = [one for one in sent if one.length or one.flags == SYN]
    return [*sent, *(replace(one, ms=one.ms + later, ttl=ttl) for one in again)]


def stamped(sent: list[Sent]) -> list[Sent]:
    """With stamps of 1 ms, each echoing 0."""
    option = [struct.pack(">BBBBII", 1, 1, 8, 10, 5000 + int(one.ms), 0) for one in sent]
    return [
        replace(one, options=one.options + made) for one, made in zip(sent, option, strict=True)
    ]


@pytest.mark.parametrize("later", [0.3, 0.7, 1.4, 4.0])
def test_what_comes_sooner_than_any_timer_is_a_double(later: float, tmp_path: Path) -> None:
    short = [replace(one, ms=one.ms / 20) for one in [*opened(), *a_flow()]]
    assert held(tmp_path, twice(short, later)).rows == 0


def test_of_one_direction_without_a_handshake_too(tmp_path: Path) -> None:
    mine = [one for one in a_flow() if not one.server]
    assert held(tmp_path, twice(mine, 1.4)).rows == 0


def test_what_a_router_has_passed_on_is_a_double(tmp_path: Path) -> None:
    """Though the peer's ACK of it came by before, and a round trip has passed."""
    made = held(tmp_path, twice([*opened(), *a_flow()], 23, ttl=63))
    assert (made.rows, made.certain) == (0, 0)


def test_three_duplicates_within_the_least_round_trip_make_a_retransmission(tmp_path: Path) -> None:
    """The peer acknowledges two segments after 20 ms, what is out of order after 2 ms."""
    flight = [data(400 + n, 12 + n) for n in range(5)]
    repeated = [acked(403 + n, 12) for n in range(3)]
    made = held(tmp_path, [*opened(), *a_flow(), *flight, *repeated, data(406, 12), acked(426, 17)])
    assert (made.rows, made.certain, made.missed) == (1, 1, ())


def test_what_comes_later_than_doubles_do_was_sent_again(tmp_path: Path) -> None:
    """A timeout within a long round trip."""
    slow = [replace(one, ms=20 * one.ms) for one in opened()]
    sent = [*slow, data(900, 0), data(1210, 0), acked(1320, 1)]
    made = held(tmp_path, sent)
    assert (made.rows, made.certain, made.missed) == (1, 1, ())


def test_what_nothing_tells_is_said_with_doubt(tmp_path: Path) -> None:
    """Alike, in silence, a round trip later."""
    sent = [*opened(), *a_flow(), data(400, 12), data(430, 12), acked(450, 13)]
    made = held(tmp_path, sent)
    (row,) = made.of("unclear")
    assert row["mechanism"] == "unknown"
    assert row["certainty"] < 0.95
    assert made.certain == 0


def test_a_stamp_of_an_earlier_tick_is_of_a_double(tmp_path: Path) -> None:
    sent = stamped([*opened(), *a_flow(), data(400, 12), acked(450, 13)])
    again = next(one for one in sent if one.ms == 400)
    assert held(tmp_path, [*sent, replace(again, ms=430)]).rows == 0
    later = replace(again, ms=430, options=stamped([data(430, 12)])[0].options)
    made = held(tmp_path, [*sent, later])
    assert (made.rows, made.certain) == (1, 1)


def test_an_ack_below_the_edge_repeats_nothing(tmp_path: Path) -> None:
    """Two segments, all acknowledged; an old ACK and the second segment come by once more."""
    old = [acked(300, 11), acked(301, 11), acked(302, 11)]
    made = held(tmp_path, [*opened(), *a_flow(), *old, data(303, 11)])
    assert [row["mechanism"] for _, row in made.said] == ["unknown"]


def test_a_capture_that_begins_again_has_sent_nothing_again(tmp_path: Path) -> None:
    """Its handshake comes twice, with the same times."""
    sent = [replace(one, ip_id=0) for one in opened()]
    made = hold(rebuilt.write(tmp_path / "x.pcap", [*sent[:3], *sent[:2]]))
    assert made.rows == 0


def test_the_oracle_takes_acks_for_signs_of_a_loss(tmp_path: Path) -> None:
    """From two duplicates on, or with a SACK block, a packet that comes soon was sent again."""
    block = 1_000_000 + 101 + 13 * MSS
    sacked = replace(acked(405, 12), options=struct.pack(">BBBBII", 1, 1, 5, 10, block, block + 1))
    for between, kind in (
        ([], "unclear"),
        ([acked(405, 12)], "unclear"),
        ([acked(405, 12), acked(406, 12)], "certain"),
        ([sacked], "certain"),
    ):
        sent = [*opened(), *a_flow(), data(400, 12), data(401, 13), *between, data(410, 12)]
        path = rebuilt.write(tmp_path / "x.pcap", [replace(one, ip_id=0) for one in sent])
        assert oracle.account(packets.read(path))[-1].kind == kind


def test_a_numbered_packet_is_never_unclear(tmp_path: Path) -> None:
    sent = [*opened(), *a_flow(), data(400, 12), Sent(410, False, ACK | 8, 101 + 12 * MSS, 1, MSS)]
    path = rebuilt.write(tmp_path / "x.pcap", sent)
    assert oracle.account(packets.read(path))[-1].kind == "certain"


@pytest.mark.parametrize(("later", "kind"), [(1.4, "unclear"), (1000, "keep-alive")])
def test_a_keep_alive_comes_after_a_silence(later: float, kind: str, tmp_path: Path) -> None:
    """Of a direction whose peer's ACKs are not in the capture, one byte at a time."""
    sent = [replace(data(10 * n, 0), seq=101 + n, length=1, ip_id=0) for n in range(4)]
    path = rebuilt.write(tmp_path / "x.pcap", [*sent, replace(sent[-1], ms=30 + later)])
    assert oracle.account(packets.read(path))[-1].kind == kind
