"""Captures written by hand, each of a kind of which sentences once said more than its packets."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from tests.real.packets import ACK, FIN, SYN
from tests.trace import scripted

MSS = 1000
PSH = 8


@dataclass(frozen=True)
class Sent:
    """A packet: when, from whom, and what; numbers count from 0."""

    ms: float
    server: bool
    flags: int
    seq: int
    ack: int = 0
    length: int = 0
    window: int = 60_000
    options: bytes = b""
    ip_id: int | None = None
    ttl: int = 64


def write(path: Path, sent: list[Sent]) -> Path:
    """A capture of the packets in their order; each host counts those that have no number."""
    counts = {True: 0, False: 0}
    packets = []
    for one in sent:
        counts[one.server] += 1
        packets.append(_packet(one, counts[one.server] if one.ip_id is None else one.ip_id))
    return scripted.write(path, packets)


def _packet(one: Sent, number: int) -> scripted.Packet:
    return scripted.Packet(
        one.ms / 1e3,
        not one.server,
        one.flags,
        1_000_000 + one.seq,
        1_000_000 + one.ack if one.flags & ACK else 0,
        one.length,
        number,
        one.window,
        ttl=one.ttl,
        options=one.options + b"\0" * (-len(one.options) % 4),
    )


def opened(mss: int = MSS, window: int = 60_000) -> list[Sent]:
    """A handshake of 20 ms, and a request that is answered at once."""
    offer = struct.pack(">BBH", 2, 4, mss)
    return [
        Sent(0, False, SYN, 0, options=offer, window=window),
        Sent(20, True, SYN | ACK, 0, 1, options=offer, window=window),
        Sent(20.1, False, ACK, 1, 1, window=window),
        Sent(20.2, False, ACK | PSH, 1, 1, 100, window=window),
        Sent(40, True, ACK, 1, 101, window=window),
    ]


def data(ms: float, nth: int, length: int = MSS) -> Sent:
    """The client's segment of that number, from 0, behind its request."""
    return Sent(ms, False, ACK | PSH, 101 + nth * MSS, 1, length)


def acked(ms: float, segments: int) -> Sent:
    """The server's ACK of so many segments."""
    return Sent(ms, True, ACK, 1, 101 + segments * MSS)


def a_flow(begin_ms: float = 50, segments: int = 12) -> list[Sent]:
    """Segments of the client, two at a time, each pair acknowledged after 20 ms."""
    sent = []
    for pair in range(segments // 2):
        at = begin_ms + 25 * pair
        sent += [data(at, 2 * pair), data(at + 0.1, 2 * pair + 1), acked(at + 20, 2 * pair + 2)]
    return sent


def timeouts(nth: int, begin_ms: float, gaps_ms: list[float]) -> list[Sent]:
    """A segment again after each of the gaps."""
    return [data(at, nth) for at in list(accumulate(gaps_ms, initial=begin_ms))[1:]]


def cable_pulled() -> list[Sent]:
    """Six segments of which none is acknowledged any more; the first goes again, five times."""
    last = [data(250 + n / 10, 12 + n) for n in range(6)]
    return [*opened(), *a_flow(), *last, *timeouts(12, 250, [220, 440, 880, 1760, 3520])]


def one_lost_for_good() -> list[Sent]:
    """One segment that is never acknowledged."""
    return [*opened(), *a_flow(), data(250, 12), *timeouts(12, 250, [220, 440, 880])]


def timer_that_does_not_double() -> list[Sent]:
    """A segment again each 300 ms, until its ACK comes."""
    again = timeouts(12, 250, [300, 300, 300, 300])
    return [*opened(), *a_flow(), data(250, 12), *again, acked(1470, 13), data(1500, 13)]


def probe_train() -> list[Sent]:
    """No TCP sender: the same bytes forty times, microseconds apart."""
    train = [data(300 + n * 0.004, 12, 26) for n in range(40)]
    return [*opened(), *a_flow(), *train, replace(data(3000, 12, 26)), acked(3020, 12)]


def three_duplicates() -> list[Sent]:
    """One of eight segments is lost, and repaired after three duplicate ACKs."""
    flight = [data(250 + n / 10, 12 + n) for n in range(8)]
    duplicates = [acked(271 + n / 10, 12) for n in range(7)]
    repaired = [data(271.25, 12), acked(292, 20)]
    every = [*flight, *duplicates, *repaired]
    return [*opened(), *a_flow(), *sorted(every, key=lambda one: one.ms)]


def half_open_at_the_end() -> list[Sent]:
    """The capture ends before the SYN-ACK's answer could come by."""
    return opened()[:2]


def half_open_for_good() -> list[Sent]:
    """The SYN-ACK is sent again and again."""
    syn, answer = opened()[:2]
    return [syn, answer, *(replace(answer, ms=ms) for ms in (1020, 3020, 7020))]


def segment_above_window() -> list[Sent]:
    """100 bytes at a time in a window of 60,000, where a segment may have 65,483."""
    sent = opened(mss=65_483)
    for nth in range(10):
        at = 50 + 40 * nth
        small = Sent(at, False, ACK | PSH, 101 + 100 * nth, 1, 100)
        sent += [small, Sent(at + 36, True, ACK, 1, 201 + 100 * nth)]
    return sent


def window_that_is_full() -> list[Sent]:
    """Two segments of a window of 2,000 bytes, again and again."""
    small = [replace(one, window=2000) for one in a_flow(segments=24)]
    return [*(replace(one, window=2000) for one in opened()), *small]


def reordered() -> list[Sent]:
    """One segment comes behind its successor by 50 µs; their identifications show their order."""
    late = [data(250, 13), data(250.05, 12), acked(270, 14)]
    late = [replace(one, ip_id=ip_id) for one, ip_id in zip(late, (17, 16, 9), strict=True)]
    return [*opened(), *a_flow(), *late]


def recorded_four_times() -> list[Sent]:
    """Each packet four times, ten microseconds apart, ACKs as well."""
    numbered = [replace(one, ip_id=n) for n, one in enumerate([*opened(), *a_flow()], 1)]
    return [replace(one, ms=one.ms + n / 100) for one in numbered for n in range(4)]


def kept_alive() -> list[Sent]:
    """A byte below what was acknowledged, each ten seconds."""
    kept = []
    for ms in (10_000, 20_000, 30_000):
        kept += [Sent(ms, False, ACK, 100 + 12 * MSS, 1), acked(ms + 20, 12)]
    return [*opened(), *a_flow(), *kept]


def merged_by_the_card() -> list[Sent]:
    """Four segments a packet, of which two packets go again after a timeout."""
    sent = opened()
    for nth in range(6):
        at = 50 + 25 * nth
        sent += [data(at, 4 * nth, 4 * MSS), acked(at + 20, 4 * nth + 4)]
    sent += [data(250, 24, 4 * MSS), data(250.1, 28, 4 * MSS)]
    again = [data(500, 24, 4 * MSS), acked(520, 28), data(520.1, 28, 4 * MSS)]
    return [*sent, *again, acked(540.2, 32)]


def closed_for_good() -> list[Sent]:
    """A window that closes and is probed."""
    closed = replace(acked(300, 12), window=0)
    probes = [data(ms, 12, 1) for ms in (600, 1200, 2400)]
    answers = [replace(closed, ms=one.ms + 20) for one in probes]
    every = [closed, *probes, *answers]
    end = [Sent(5000, False, ACK | FIN, 101 + 12 * MSS, 1)]
    return [*opened(), *a_flow(), *sorted(every, key=lambda one: one.ms), *end]


CASES: tuple[Callable[[], list[Sent]], ...] = (
    cable_pulled,
    one_lost_for_good,
    timer_that_does_not_double,
    probe_train,
    three_duplicates,
    half_open_at_the_end,
    half_open_for_good,
    segment_above_window,
    window_that_is_full,
    reordered,
    recorded_four_times,
    kept_alive,
    merged_by_the_card,
    closed_for_good,
)
