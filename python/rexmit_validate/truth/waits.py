"""Whose the time of connections was, by what the kernel recorded that its sockets waited for.

The record is that of the optional patch `tcp-record-waits`; docs/notes/waits.md says how its words
and the captures at both hosts become owners.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, Final

from rexmit_validate.truth.causes import Cause
from rexmit_validate.truth.follow import SentPacket
from rexmit_validate.truth.label import Flow, Retransmission

CONGESTION: Final = "congestion-window"
RECOVERY: Final = "recovery"
HELD: Final = "held"
"""Of the congestion window, while nothing arrived of what was on its way."""
PROGRAM: Final = "program"
"""The sender's program had written nothing more, and data were on their way."""

LOST: Final = "lost"
"""No word of the kernel's: what is on its way will be sent again."""

OWNERS: Final = {
    LOST: RECOVERY,
    "recovery": RECOVERY,
    "loss": RECOVERY,
    "cwnd": CONGESTION,
    "defer-cwnd": CONGESTION,
    "window": "receiver-window",
    "defer-window": "receiver-window",
    "nagle": "nagle",
    "buffer": "sender",
    "defer": "sender",
    "pacing": "sender",
    "small-queue": "sender",
    "host": "sender",
}
"""What keeps data back that were written, or that a buffer has no room for."""

_REPAIRS: Final = ("recovery", "loss")
"""Congestion states in which what is lost is sent again."""
_QUEUE: Final = 4
"""Packets that wait at a link and are no delayed acknowledgement's."""
_HOLDS: Final = (200_000_000, 8)
"""For so long, in nanoseconds, nothing arrives where a path holds back what is on its way: so many
packets at least."""
_IDLE, _BUFFER = 0, 3
"""Of `enum tcp_chrono`."""
_WRAP: Final = 1 << 32

Point = str
Delays = Mapping[str, Mapping[Point, int]]
"""From each host the shortest way to each point."""
Passed = Mapping[tuple[int, str], Mapping[Point, int]]
"""When what happened at a time and host came by at each point, where that is not the shortest way
later: of a packet that opens a connection."""


@dataclass(frozen=True, slots=True)
class Side:
    """One end of a connection: what it sent, and what its socket waited for, in order."""

    host: str
    client: bool
    sent: Sequence[SentPacket]
    records: Sequence[Cause]
    retransmissions: Sequence[Retransmission]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Time of one direction, between what happened at two hosts."""

    wait: str
    owner: str
    begin: tuple[int, str]
    end: tuple[int, str]

    def at(self, point: Point, ways: Delays, passed: Passed) -> tuple[int, int]:
        """From when to when it is seen at a point."""
        begin, end = (
            passed.get(instant, {}).get(point, instant[0] + ways[instant[1]][point])
            for instant in (self.begin, self.end)
        )
        return begin, max(begin, end)


def delays(sent: Mapping[str, Sequence[SentPacket]], near: Mapping[str, Point]) -> Delays:
    """How long packets of each host take to each point at least; `near`: the point beside it."""
    ways: dict[str, dict[Point, int]] = {}
    for host, own in near.items():
        far = next(point for point in near.values() if point != own)
        times = {
            "switch": [(one.switch_ns, one.packet.time_ns) for one in sent[host]],
            far: [(one.arrived_ns, one.packet.time_ns) for one in sent[host]],
        }
        ways[host] = {own: 0} | {
            point: min((at - left for at, left in pairs if at is not None), default=0)
            for point, pairs in times.items()
        }
    return ways


def rows(
    part: str, connections: Iterable[tuple[Side, Side]], ways: Delays, offset_ns: int
) -> Iterator[dict[str, Any]]:
    """The table `waits`: both directions of each connection."""
    for client, server in connections:
        passed = _opens(client, ways)
        for sender, peer in ((client, server), (server, client)):
            for stretch in stretches(sender, peer, offset_ns):
                row: dict[str, Any] = {
                    "part": part,
                    "flow": sender.sent[0].packet.flow,
                    "wait": stretch.wait,
                    "owner": stretch.owner,
                }
                for point in ways[sender.host]:
                    row[f"{point}_from_ns"], row[f"{point}_to_ns"] = stretch.at(point, ways, passed)
                yield row


def _opens(client: Side, ways: Delays) -> Passed:
    """The client's first packet behind its SYN: only there a point sees that it is connected."""
    others = [one for one in client.sent if not one.packet.syn]
    if not others:
        return {}
    near, middle, far = ways[client.host]
    by = {
        near: others[0].packet.time_ns,
        middle: min((one.switch_ns for one in others if one.switch_ns is not None), default=None),
        far: min((one.arrived_ns for one in others if one.arrived_ns is not None), default=None),
    }
    seen = {point: at for point, at in by.items() if at is not None}
    return {(others[0].packet.time_ns, client.host): seen}


def sides(
    flows: Mapping[str, Flow],
    sent: Mapping[str, Sequence[SentPacket]],
    records: Mapping[str, Sequence[Cause]],
    outcomes: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Side, Side]]:
    """Client and server of each connection on which both sent. `sent` is by host, `flows` and
    `records` are by the flow's name.
    """
    by_flow: defaultdict[str, list[SentPacket]] = defaultdict(list)
    hosts: dict[str, str] = {}
    for host, packets in sent.items():
        for one in packets:
            by_flow[one.packet.flow].append(one)
            hosts[one.packet.flow] = host
    for outcome in outcomes:
        there = f"{outcome['client']} > {outcome['server']}"
        back = f"{outcome['server']} > {outcome['client']}"
        if there in by_flow and back in by_flow:
            client, server = (
                Side(
                    host=hosts[name],
                    client=name == there,
                    sent=by_flow[name],
                    records=records.get(name, ()),
                    retransmissions=flows[name].retransmissions,
                )
                for name in (there, back)
            )
            yield client, server


def stretches(sender: Side, peer: Side, offset_ns: int) -> list[Stretch]:
    """Whose the time of a direction was, from the connection's first packet to its last.
    `offset_ns` is what the captures' clock shows more than TCP's.
    """
    line = _Line(sender, peer, offset_ns)
    joined: list[Stretch] = []
    for begin, end in pairwise(line.instants()):
        wait, owner = line.whose(begin[0])
        last = joined[-1] if joined else None
        if last is not None and (last.wait, last.owner) == (wait, owner):
            joined[-1] = Stretch(wait, owner, last.begin, end)
        else:
            joined.append(Stretch(wait, owner, begin, end))
    return joined


class _States:
    """What a socket waited for at each instant."""

    def __init__(self, side: Side, peer: Side, offset_ns: int) -> None:
        self._records = side.records
        self._at = [record.stamp_ns + offset_ns for record in side.records]
        sends = [one.packet.time_ns for one in side.sent if one.packet.payload]
        again = [one.sent.packet.time_ns for one in side.retransmissions if one.sent.packet.payload]
        # From what was sent last before what was sent again.
        self._repairs = [(sends[bisect_left(sends, at) - 1], at) for at in again if at > sends[0]]
        self._open = list(_open(side, peer, again))

    def instants(self) -> Iterator[int]:
        yield from self._at
        for stretch in (*self._repairs, *self._open):
            yield from stretch

    def wait(self, at: int) -> str | None:
        """The kernel's word, None where nothing that was written waits to be sent."""
        place = bisect_right(self._repairs, (at, _FOREVER)) - 1
        if place >= 0 and at < self._repairs[place][1]:
            return LOST
        record = self._latest(at)
        if record is None:
            return None
        place = bisect_right(self._open, (at, _FOREVER)) - 1
        return _wait(record, repairs=place >= 0 and at < self._open[place][1])

    def is_idle(self, at: int) -> bool:
        """All that was written has arrived."""
        record = self._latest(at)
        return record is None or record.numbers["chrono"] == _IDLE

    def _latest(self, at: int) -> Cause | None:
        place = bisect_right(self._at, at) - 1
        return self._records[place] if place >= 0 else None


def _open(side: Side, peer: Side, again: Sequence[int]) -> Iterator[tuple[int, int]]:
    """From each time at which data were sent again until their sender hears that all it had sent by
    then has arrived; one after the other. A congestion state may last longer, as without SACK until
    more is acknowledged (RFC 6582 section 4), or be of a SYN.
    """
    arrivals = list(_arrivals(side))
    ends = [end for _, end in arrivals]
    heard = sorted(
        (one.packet.time_ns, one.arrived_ns) for one in peer.sent if one.arrived_ns is not None
    )
    isn, place, highest, until = side.sent[0].packet.seq, 0, 0, 0
    for at in again:
        while place < len(side.sent) and side.sent[place].packet.time_ns <= at:
            packet = side.sent[place].packet
            if packet.payload:
                highest = max(highest, (packet.seq - isn) % _WRAP + packet.length)
            place += 1
        number = bisect_left(ends, highest)
        there_ns = arrivals[number][0] if number < len(arrivals) else _FOREVER
        later = heard[bisect_left(heard, (there_ns, 0)) :]
        hears_ns = next((arrived for _, arrived in later if arrived > at), _FOREVER)
        if hears_ns > max(at, until):
            yield max(at, until), hears_ns
            until = hears_ns


def _arrivals(side: Side) -> Iterator[tuple[int, int]]:
    """When all data of a side up to some place in its sequence space had arrived."""
    isn = side.sent[0].packet.seq
    data = [
        (one.arrived_ns, (one.packet.seq - isn) % _WRAP, one.packet.length)
        for one in side.sent
        if one.packet.payload and one.arrived_ns is not None
    ]
    reached = 1
    ahead: list[tuple[int, int]] = []
    for arrived_ns, begin, length in sorted(data):
        heappush(ahead, (begin, begin + length))
        before = reached
        while ahead and ahead[0][0] <= reached:
            reached = max(reached, heappop(ahead)[1])
        if reached > before:
            yield arrived_ns, reached


def _wait(record: Cause, *, repairs: bool) -> str | None:
    chrono = record.numbers["chrono"]
    if chrono == _IDLE:
        return None
    if repairs and record.state in _REPAIRS:
        return record.state
    if record.cause == "empty":
        return "buffer" if chrono == _BUFFER else None
    return record.cause


_FOREVER: Final = 1 << 63


class _Line:
    """One direction of a connection."""

    def __init__(self, sender: Side, peer: Side, offset_ns: int) -> None:
        self._sides = (sender, peer)
        self._states = [
            _States(side, other, offset_ns) for side, other in (self._sides, reversed(self._sides))
        ]
        client = sender if sender.client else peer
        others = [one.packet.time_ns for one in client.sent if not one.packet.syn]
        sent = [(one.packet.time_ns, side.host) for side in self._sides for one in side.sent]
        self._start, self._end = min(sent), max(sent)
        self._open = others[0] if others else self._end[0]
        self._client = client
        # When the last data had arrived.
        last = [
            (at, other.host)
            for side, other in ((sender, peer), (peer, sender))
            for at, _ in list(_arrivals(side))[-1:]
        ]
        self._over = max(last, default=self._end)
        # When each packet of new data was sent, and by which side.
        new = ((at, place) for place, side in enumerate(self._sides) for at in _new(side))
        self._new = sorted(new)
        self._sent = [at for at, _ in self._new]
        # When packets left and arrived.
        every = [
            [(one, one.arrived_ns) for one in side.sent if one.arrived_ns is not None]
            for side in self._sides
        ]
        self._shortest = [
            min((arrived - one.packet.time_ns for one, arrived in each), default=0)
            for each in every
        ]
        self._ways = [
            [(one.packet.time_ns, arrived) for one, arrived in each if one.packet.payload]
            for each in every
        ]
        self._arrived = [sorted(arrived for _, arrived in ways) for ways in self._ways]

    def instants(self) -> list[tuple[int, str]]:
        """When anything may change, and at which host."""
        hosts = [side.host for side in self._sides]
        hosts_at = dict([self._end, self._over, self._start, (self._open, self._client.host)])
        for place, states in enumerate(self._states):
            hosts_at |= dict.fromkeys(states.instants(), hosts[place])
            hosts_at |= dict.fromkeys(self._arrived[place], hosts[1 - place])
        hosts_at |= {at: hosts[place] for at, place in self._new}
        return [one for one in sorted(hosts_at.items()) if self._start <= one <= self._end]

    def whose(self, at: int) -> tuple[str, str]:
        """The kernel's word and the owner of what follows an instant."""
        if at < self._open:
            return "connecting", "connecting"
        # What is sent again behind the last byte, as a FIN is, nobody waits for.
        waits = [] if at >= self._over[0] else [states.wait(at) for states in self._states]
        for place, wait in enumerate(waits):
            if wait is not None:
                owner = OWNERS[wait]
                return wait, HELD if owner == CONGESTION and self._holds(at, place) else owner
        owner = self._program(at)
        return "empty", owner

    def _holds(self, at: int, place: int) -> bool:
        """Whether the path holds back what a side has on its way."""
        arrived = self._arrived[place]
        number = bisect_right(arrived, at)
        if number in (0, len(arrived)):
            return False
        before, after = arrived[number - 1], arrived[number]
        ways = self._ways[place]
        left = bisect_right(ways, (before, _FOREVER))
        return after - before >= _HOLDS[0] and left - number >= _HOLDS[1]

    def _program(self, at: int) -> str:
        """Whose it is while nothing waits to be sent."""
        place = bisect_right(self._sent, at)
        last = self._new[place - 1][1] if place else None
        if place == len(self._new):
            return self._rest(at, last)
        sent, next_ = self._new[place]
        if last == next_ and not self._states[next_].is_idle(at):
            return PROGRAM
        if last is not None and last != next_:
            arrived = self._arrived[last]
            number = bisect_right(arrived, sent) - 1
            if number < 0 or at < arrived[number]:
                return self._on_way(at, last)
        if not self._sides[next_].client:
            return "server"
        return "client" if last in (None, next_) else "between-requests"

    def _rest(self, at: int, last: int | None) -> str:
        if last is None:
            return "closing"
        if self._arrived[last] and at < self._arrived[last][-1]:
            return self._on_way(at, last)
        return "unanswered" if self._sides[last].client else "closing"

    def _on_way(self, at: int, last: int) -> str:
        """Whose it is while the last of a turn is on its way: a queue's, if more than a packet or
        two wait there for longer than a round trip takes without it.
        """
        ways = self._ways[last]
        sent, arrived = ways[bisect_right(ways, (at, _FOREVER)) - 1]
        behind = bisect_right(self._arrived[last], arrived) - bisect_right(
            self._arrived[last], sent
        )
        waited = arrived - sent - self._shortest[last]
        queued = waited > sum(self._shortest) and behind >= _QUEUE
        return CONGESTION if queued else "round-trip"


def _new(side: Side) -> Iterator[int]:
    """When it sent what it had not sent before."""
    isn, highest = side.sent[0].packet.seq, 0
    for one in side.sent:
        packet = one.packet
        end = (packet.seq - isn) % _WRAP + packet.length
        if packet.payload and end > highest:
            yield packet.time_ns
        highest = max(highest, end)
