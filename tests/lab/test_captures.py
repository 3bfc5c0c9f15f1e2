"""What the captures of both ends show: an account of each row that owes the filter nothing."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import Any

import pytest
from tests.lab.conftest import Lab, Run

from rexmit._core import Packet

FIN, SYN, ACK = 1, 2, 16
DELAY_NS = 2_500_000
RATE_BPS = 100_000_000
LOOKS_NS = 20_000
"""The clock's grain, and the looks at it between a packet's passing and its time stamp."""


@dataclass
class Account:
    """A transfer as its server's packets tell it."""

    size: int = 0
    segments: int = 0
    dropped: int = 0
    retransmissions: int = 0
    start_ns: int | None = None
    drop_ns: int | None = None
    retransmit_ns: int | None = None
    end_ns: int | None = None
    highest_first: bool | None = None


def sent_by(packets: list[Packet], port: int) -> list[Packet]:
    return [packet for packet in packets if packet.sport == port]


def server_data(packets: list[Packet]) -> tuple[int, list[Packet]]:
    """The server's initial sequence number and its packets with data or a FIN."""
    (syn_ack,) = [packet for packet in sent_by(packets, 80) if packet.flags & SYN]
    return syn_ack.seq, [
        packet for packet in sent_by(packets, 80) if packet.payload_len or packet.flags & FIN
    ]


def account(packets: list[Packet]) -> Account:
    """Reads what h1 sent; only the comment that a packet was dropped is taken on trust."""
    isn, data = server_data(packets)
    found = Account()
    next_seq, fin_at = 1, None
    missing: set[tuple[int, int]] = set()
    for packet in data:
        begin = (packet.seq - isn) & 0xFFFFFFFF
        fin = bool(packet.flags & FIN)
        end = begin + packet.payload_len + fin
        new = end > next_seq
        if found.start_ns is None:
            found.start_ns = packet.time_ns
        if new:
            assert begin == next_seq, "segments of the tail are sent in order"
            found.segments += packet.payload_len > 0
            next_seq = end
            fin_at = end if fin else fin_at
        else:
            found.retransmissions += 1
            if (begin, end) in missing and found.retransmit_ns is None:
                found.retransmit_ns = packet.time_ns
                found.highest_first = end == next_seq
            missing.discard((begin, end))
        if "dropped" in (packet.comment or ""):
            assert new, "no retransmission is dropped"
            found.dropped += 1
            found.drop_ns = found.drop_ns or packet.time_ns
            missing.add((begin, end))
        found.end_ns = packet.time_ns
    assert not missing, "all that was dropped was sent again"
    found.size = next_seq - 1 - (fin_at is not None)
    return found


def nanoseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1e9)


def test_the_rows_say_what_the_packets_show(near: Run) -> None:
    for row in near.rows():
        seen = account(near.capture(row, "h1"))
        assert seen.size == row["transfer_size_bytes"]
        assert seen.segments == row["transfer_segments"]
        assert seen.dropped == row["dropped_packets"]
        assert seen.retransmissions == row["retransmissions"]
        assert seen.start_ns == nanoseconds(row["t_start_s"])
        assert seen.drop_ns == nanoseconds(row["t_drop_s"])
        assert seen.retransmit_ns == nanoseconds(row["t_retransmit_s"])
        assert seen.end_ns == nanoseconds(row["t_end_s"])
        assert row["is_tlp"] == (seen.highest_first if seen.dropped > 1 else None)


def test_comments_mark_the_drops_and_retransmissions_of_the_tables(near: Run) -> None:
    for row in near.rows():
        isn, data = server_data(near.capture(row, "h1"))
        comments = [packet.comment for packet in data if packet.comment]
        retransmissions = near.retransmissions_of(row)
        wanted = ["rexmit: dropped"] * row["dropped_packets"] + [
            f"rexmit: retransmission mechanism={one['mechanism']} need={one['need']}"
            for one in retransmissions
        ]
        assert comments == wanted
        marked = [packet for packet in data if "retransmission" in (packet.comment or "")]
        for packet, retransmission in zip(marked, retransmissions, strict=True):
            assert packet.time_ns == nanoseconds(retransmission["time_s"])
            assert (packet.seq - isn) & 0xFFFFFFFF == retransmission["seq"]
            assert packet.payload_len == retransmission["length_bytes"]
            assert bool(packet.flags & FIN) == retransmission["fin"]
        everything = near.capture(row, "h1") + near.capture(row, "h2")
        assert sum(packet.comment is not None for packet in everything) == len(comments)


def test_connections_are_those_of_the_rows(near: Run) -> None:
    for row in near.rows():
        h1, h2 = near.capture(row, "h1"), near.capture(row, "h2")
        for packets in (h1, h2):
            (syn,) = [packet for packet in packets if packet.flags & (SYN | ACK) == SYN]
            (answer,) = [packet for packet in packets if packet.flags & SYN and packet is not syn]
            assert (syn.seq, answer.seq) == (row["isn_client"], row["isn_server"])
            assert (syn.src, syn.dst) == (answer.dst, answer.src) == ("10.0.0.2", "10.0.0.1")
            assert syn.sport == row["client_port"]
            times = [packet.time_ns for packet in packets]
            assert times == sorted(times)
            assert {packet.payload_len for packet in sent_by(packets, 80)} == {0, 1448}


Pair = tuple[Packet, Packet]


def pairs(sent: list[Packet], received: list[Packet]) -> list[Pair]:
    """Each packet that arrived with itself as it was sent; the links keep the order."""

    def key(packet: Packet) -> tuple[Any, ...]:
        return (packet.seq, packet.ack, packet.flags, packet.payload_len, tuple(packet.sack))

    waiting: dict[tuple[Any, ...], deque[Packet]] = defaultdict(deque)
    for packet in sent:
        waiting[key(packet)].append(packet)
    found = [(waiting[key(packet)].popleft(), packet) for packet in received]
    assert not any(waiting.values()), "nothing is lost but what the filter drops"
    return found


def frame_ns(packet: Packet) -> int:
    """How long a link takes to send it: Ethernet, IP, TCP with its options, payload."""
    options = 20 if packet.flags & SYN else 12 + (4 + 8 * len(packet.sack) if packet.sack else 0)
    return (14 + 20 + 20 + options + packet.payload_len) * 8 * 10**9 // RATE_BPS


@pytest.mark.parametrize("way", ["to the client", "to the server"])
def test_packets_take_the_time_that_the_links_say(near: Run, way: str) -> None:
    for row in near.rows():
        h1, h2 = near.capture(row, "h1"), near.capture(row, "h2")
        if way == "to the client":
            sent = [packet for packet in sent_by(h1, 80) if "dropped" not in (packet.comment or "")]
            received = sent_by(h2, 80)
        else:
            sent, received = sent_by(h2, row["client_port"]), sent_by(h1, row["client_port"])
        assert len(received) > 20
        free_ns = 0
        for departure, arrival in pairs(sent, received):
            # The first link sends one packet after the other, each adds its delay, and the
            # second link is never the slower one.
            begin = max(departure.time_ns, free_ns)
            free_ns = begin + frame_ns(departure)
            wanted = free_ns + frame_ns(departure) + 2 * DELAY_NS
            assert wanted - LOOKS_NS <= arrival.time_ns <= wanted + LOOKS_NS


def test_the_client_acknowledges_everything_in_the_end(near: Run) -> None:
    for row in near.rows():
        port = row["client_port"]
        last = max(
            (p.ack - row["isn_server"]) & 0xFFFFFFFF
            for p in near.capture(row, "h2")
            if p.sport == port and p.flags & ACK
        )
        assert last == row["transfer_size_bytes"] + 2, "SYN, data, FIN"


def test_a_ladder_shows_the_transfer(lab: Lab, near: Run) -> None:
    flow = next(
        index
        for index, row in enumerate(near.rows())
        if (row["config"], row["lost_segments"]) == ("tlp", 5)
    )
    done = lab.rexmit("show", str(near.path), "--flow", str(flow)).ok()
    text = done.text
    assert text.count("dropped") >= 5
    assert "tlp" in text
    assert text.count("rack") >= 4
    for relative in range(1 + 95 * 1448, 144_800, 1448):
        assert f"{relative}" in text.replace(",", ""), "relative sequence numbers"


def test_a_flow_that_is_not_there_is_told(lab: Lab, near: Run) -> None:
    done = lab.rexmit("show", str(near.path), "--flow", "30")
    assert done.status == 1
    assert "Traceback" not in done.err
    assert "30" in done.err


def test_captures_change_nothing_but_the_clocks_grain(each: Lab, near: Run) -> None:
    plain = each.run("network=high-speed", "config=er,tlp", "loss.segments=5", "repeat=2")
    for row in plain.rows():
        other = near.rows(**{k: row[k] for k in ("config", "lost_segments", "repetition")})[0]
        for name in ("t_total_s", "t_recover_s", "client_s"):
            assert row[name] == pytest.approx(other[name], abs=50e-6)
        for name in ("mechanism", "retransmissions", "is_tlp", "transfer_size_bytes"):
            assert row[name] == other[name]
