"""Packets with the times of a clock that nobody set.

A capture's clock is set while it runs: it goes back or jumps, and the hosts' own clocks, which
their stamps tell, do not. Two hosts that deny the same time show it. Where nothing tells how long
it was from one packet to the next, no time is taken to have passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tests.real.options import parse
from tests.real.packets import RST, SYN, Packet

TICKS_NS = (1_000_000, 2_000_000, 4_000_000, 10_000_000, 100_000_000, 500_000_000)

LEAST_TICKS = 20

DISORDER_NS = 20_000_000
"""Packets of several queues of one monitor are disordered by less."""

WAIT_NS = 200_000_000
"""Two hosts whose packets wait this long at once, and then no more, are unheard of."""

AHEAD = 64
"""Packets behind a step among which both hosts have shown their clocks."""

Stamp = tuple[int, int]
"""A time of the capture and a stamp."""


def evened(packets: Sequence[Packet]) -> list[Packet]:
    """The same packets, moved where the clock was set."""
    first: dict[tuple[str, int, str, int], Stamp] = {}
    last: dict[tuple[str, int, str, int], Stamp] = {}
    made: list[Packet] = []
    added = newest = 0
    for index, packet in enumerate(packets):
        time = packet.time_ns + added
        if made and not -DISORDER_NS <= time - newest <= WAIT_NS:
            step = _step(packets[index : index + AHEAD], added, newest, first, last)
            added, time = added + step, time + step
        made.append(replace(packet, time_ns=time))
        newest = max(newest, time)
        stamp = _stamp(packet)
        if stamp is not None:
            first.setdefault(packet.flow, (time, stamp))
            last[packet.flow] = (time, stamp)
    return made


def _step(
    ahead: Sequence[Packet],
    added: int,
    newest: int,
    first: dict[tuple[str, int, str, int], Stamp],
    last: dict[tuple[str, int, str, int], Stamp],
) -> int:
    """What is to be added to the times of these packets and all behind them; 0: nothing."""
    denied = list(_denied(ahead, added, first, last))
    sizes = [size for _, size in denied]
    hosts = {host for host, _ in denied}
    back = [packet.time_ns + added < newest - DISORDER_NS for packet in ahead[:3]]
    if len(hosts) > 1:
        least, most = min(sizes), max(sizes)
        alike = most - least <= max(abs(least) // 8, WAIT_NS // 4)
        enough = min(abs(least), abs(most)) >= (DISORDER_NS if all(back) else WAIT_NS)
        return -least if alike and enough else 0
    shown = {(packet.flow, packet.seq, packet.ip_id) for packet in ahead[:3]}
    one_by_one = len(shown) == len(back) == 3
    return newest - (ahead[0].time_ns + added) if one_by_one and all(back) else 0


def _denied(
    ahead: Sequence[Packet],
    added: int,
    first: dict[tuple[str, int, str, int], Stamp],
    last: dict[tuple[str, int, str, int], Stamp],
) -> Iterator[tuple[str, int]]:
    """Of each flow its host, and by how much more the capture's clock went on than the host's."""
    seen = set()
    for packet in ahead:
        stamp = _stamp(packet)
        if stamp is None or packet.flow in seen or packet.flow not in last:
            continue
        (began, zero), (then, before) = first[packet.flow], last[packet.flow]
        tick = _tick(then - began, _ticks(zero, before))
        if tick is not None:
            seen.add(packet.flow)
            passed = packet.time_ns + added - then
            yield packet.flow[0], passed - _ticks(before, stamp) * tick


def _tick(span: int, count: int) -> int | None:
    if count < LEAST_TICKS:
        return None
    near = min(TICKS_NS, key=lambda tick: abs(span / count / tick - 1))
    return near if abs(span / count / near - 1) < 0.1 else None


def _ticks(before: int, after: int) -> int:
    return (after - before + (1 << 31)) % (1 << 32) - (1 << 31)


def _stamp(packet: Packet) -> int | None:
    return None if packet.flags & (RST | SYN) else parse(packet.options).stamp
