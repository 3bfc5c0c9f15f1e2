"""What each sender of a capture had sent, and what it had heard, in the order of the file.

Of each connection and direction: the packets that took up sequence numbers, and the peer's packets
with what each newly acknowledged. Copies that the capture made of a packet do not count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tests.real.options import Options, parse
from tests.real.oracle import Seen
from tests.real.packets import ACK, FIN, RST, SYN, Packet

Span = tuple[int, int]

NO_MSS = 1460
"""Bytes of a segment where no packet says how large one is."""

NEAR_NS = 1_000_000
"""A sender that answers within this time stands beside the monitor."""

QUEUES_NS = 10_000_000
"""Packets may wait so much longer on one day than on the next, at least."""

FARTHER = 10
"""So does one that answers so many times sooner than its peer."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A packet that took up the numbers from `start` to `end`. `top` is above all that was sent
    before it, `una` the highest acknowledgement before it, `again` whether it begins below `top`;
    `least` and `smoothed` are the least round trip so far and RFC 6298's SRTT; `index` is its place
    in the file."""

    index: int
    packet: Packet
    options: Options
    start: int
    end: int
    top: int
    una: int
    again: bool
    least: int | None
    smoothed: float | None


@dataclass(frozen=True, slots=True)
class Heard:
    """A packet of the peer. `una` is the highest acknowledgement before it, `fresh` what its SACK
    blocks say for the first time, `first` its first block, of the segment that arrived last
    (RFC 2018 §4, RFC 2883), `duplicate` whether it is a duplicate ACK of RFC 5681 §2."""

    index: int
    packet: Packet
    options: Options
    ack: int
    una: int
    fresh: tuple[Span, ...]
    first: Span | None
    duplicate: bool


@dataclass
class View:
    """One direction of one connection: its sender's."""

    flow: tuple[str, int, str, int]
    base: int
    top: int = 0
    una: int | None = None
    window: int | None = None
    sent: list[Sent] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    sacked: list[Span] = field(default_factory=list)
    syn: Options | None = None
    echoes: dict[int, int] = field(default_factory=dict)
    """When the peer showed a stamp first, until the sender echoes it."""
    answers: list[int] = field(default_factory=list)
    """Times from a stamp of the peer to the sender's echo, at the monitor."""
    trips: list[int] = field(default_factory=list)
    """Times from data that was sent once to its ACK, at the monitor."""
    least: int | None = None
    smoothed: float | None = None
    host: list[int] = field(default_factory=list)
    """The least `own_near` of each connection of its host."""
    waiting: list[tuple[int, int]] = field(default_factory=list)
    peer: View | None = None

    def place(self, number: int) -> int:
        """A number's distance from `base`, nearest to what was sent last."""
        return self.top + (number - self.base - self.top + (1 << 31)) % (1 << 32) - (1 << 31)

    @cached_property
    def mss(self) -> int:
        """Bytes of a full segment: what both ends offered, else the largest that was sent."""
        offered = [view.syn.mss for view in (self, self.peer) if view and view.syn and view.syn.mss]
        if offered:
            return min(offered)
        return max((one.packet.length for one in self.sent), default=0) or NO_MSS

    @cached_property
    def sack(self) -> bool | None:
        """The ends agreed on SACK; None where the capture does not tell."""
        sides = [view for view in (self, self.peer) if view]
        if any(heard.options.blocks for view in sides for heard in view.heard):
            return True
        offers = [view.syn.sack_permitted for view in sides if view.syn]
        if False in offers:
            return False
        return True if len(offers) == 2 else None

    @cached_property
    def near(self) -> int | None:
        """The least time from the monitor to this sender and back; None: not known."""
        own = min(self.own_near, default=None)
        beside = [time for time in self.host if time <= NEAR_NS]
        return own if own is not None or not beside else min(beside)

    @property
    def own_near(self) -> list[int]:
        """Times from the monitor to this sender and back."""
        return self.answers + (self.peer.trips if self.peer else [])

    @cached_property
    def far(self) -> int | None:
        """The least time from the monitor to the peer and back."""
        times = self.trips + (self.peer.answers if self.peer else [])
        return min(times, default=None)

    @cached_property
    def beside(self) -> bool:
        """The monitor stands beside this sender."""
        near, far = self.near, self.far
        if near is None:
            return False
        return near <= NEAR_NS or (far is not None and near * FARTHER <= far)

    @cached_property
    def slack(self) -> float:
        """How much earlier than a packet an ACK may stand in the file that its sender heard later:
        a round trip and what queues add, unless the monitor stands beside the sender."""
        if self.beside:
            return float(self.near or 0)
        if self.near is None or not self.trips:
            return float("inf")
        return 2.0 * (max(self.trips) + self.near) + QUEUES_NS


def histories(account: Iterable[Seen]) -> dict[int, tuple[View, Sent]]:
    """By place in the file: each packet that took up sequence numbers, with its direction."""
    views: dict[tuple[str, int, str, int], View] = {}
    found: dict[int, tuple[View, Sent]] = {}
    for index, seen in enumerate(account):
        packet = seen.packet
        if packet.flags & RST or (seen.kind == "double" and not _may_be_another(seen)):
            continue
        view, peer = _views(packet, views)
        options = parse(packet.options)
        _answer(view, packet, options)
        if packet.flags & ACK:
            _acknowledge(peer, index, packet, options)
        if options.stamp is not None:
            peer.echoes.setdefault(options.stamp, packet.time_ns)
        if seen.kind != "double" and seen.kind not in ("keep-alive", "bare", "other"):
            sent = _send(view, index, packet, options)
            found[index] = view, sent
    _share({id(view): view for view, _ in found.values()}.values())
    return found


def _share(views: Iterable[View]) -> None:
    """The place of the monitor is the same for all connections of a host."""
    hosts: defaultdict[str, list[int]] = defaultdict(list)
    for view in views:
        view.host = hosts[view.flow[0]]
        if view.own_near:
            view.host.append(min(view.own_near))


def _may_be_another(seen: Seen) -> bool:
    """Without an identification, two equal ACKs may be two, or one that was recorded twice."""
    packet = seen.packet
    return not packet.ip_id and not packet.length and not packet.flags & (SYN | FIN)


def _views(packet: Packet, views: dict[tuple[str, int, str, int], View]) -> tuple[View, View]:
    """Both directions. A SYN with another number begins another connection."""
    view = views.get(packet.flow)
    if view and packet.flags & SYN and not packet.flags & ACK:
        first = next((one for one in view.sent if one.packet.flags & SYN), None)
        if first is None or first.packet.seq != packet.seq:
            view = None
    if view is None:
        view = View(packet.flow, packet.seq)
        peer = View(packet.reverse, packet.ack)
        view.peer, peer.peer = peer, view
        views[packet.flow], views[packet.reverse] = view, peer
    assert view.peer is not None
    return view, view.peer


def _answer(view: View, packet: Packet, options: Options) -> None:
    """A stamp of the peer that this packet echoes."""
    if options.echo is not None and options.echo in view.echoes:
        view.answers.append(packet.time_ns - view.echoes.pop(options.echo))


def _send(view: View, index: int, packet: Packet, options: Options) -> Sent:
    if packet.flags & SYN:
        view.syn = options
        if not view.sent and not view.heard:
            view.base, view.top = packet.seq, 0
    start = view.place(packet.seq)
    end = start + packet.length + bool(packet.flags & SYN) + bool(packet.flags & FIN)
    una = view.una if view.una is not None else min(start, view.top)
    again = start < view.top
    sent = Sent(
        index=index,
        packet=packet,
        options=options,
        start=start,
        end=end,
        top=view.top,
        una=una,
        again=again,
        least=view.least,
        smoothed=view.smoothed,
    )
    view.sent.append(sent)
    if again:
        view.waiting = [one for one in view.waiting if one[0] <= start]
    else:
        view.waiting.append((end, packet.time_ns))
    view.top = max(view.top, end)
    return sent


def _acknowledge(view: View, index: int, packet: Packet, options: Options) -> None:
    """What an acknowledgement tells the sender `view`."""
    if not view.sent and not view.heard:
        view.base = packet.ack
    ack = view.place(packet.ack)
    una = view.una if view.una is not None else ack
    fresh: list[Span] = []
    for low, high in _blocks(view, options, ack):
        fresh += without((low, high), view.sacked)
        view.sacked = join(view.sacked, (low, high))
    bare = not packet.length and not packet.flags & (SYN | FIN)
    same = view.una is not None and ack == una and view.top > ack
    duplicate = same and bare and (packet.window == view.window or bool(fresh))
    numbers = [view.place(number) for number in options.blocks[0]] if options.blocks else []
    first = (numbers[0], numbers[1]) if numbers else None
    view.heard.append(Heard(index, packet, options, ack, una, tuple(fresh), first, duplicate))
    view.window = packet.window
    if view.una is None or ack > view.una:
        view.una = ack
        view.sacked = [(max(low, ack), high) for low, high in view.sacked if high > ack]
        covered = [one for one in view.waiting if one[0] <= ack]
        if covered:
            trip = packet.time_ns - max(sent for _, sent in covered)
            view.trips.append(trip)
            before = view.smoothed
            view.least = trip if view.least is None else min(trip, view.least)
            view.smoothed = trip if before is None else before + (trip - before) / 8
        view.waiting = [one for one in view.waiting if one[0] > ack]


def _blocks(view: View, options: Options, ack: int) -> list[Span]:
    """SACK blocks above the acknowledgement; a first one below it or in the second is a D-SACK."""
    blocks = [(view.place(low), view.place(high)) for low, high in options.blocks]
    if len(blocks) > 1 and blocks[1][0] <= blocks[0][0] and blocks[0][1] <= blocks[1][1]:
        blocks = blocks[1:]
    return [(low, high) for low, high in blocks if ack <= low < high]


def join(spans: list[Span], span: Span) -> list[Span]:
    """Spans with one more, in order and apart."""
    apart = [one for one in spans if one[1] < span[0] or span[1] < one[0]]
    joined = [one for one in spans if not (one[1] < span[0] or span[1] < one[0])]
    low = min([span[0], *(one[0] for one in joined)])
    high = max([span[1], *(one[1] for one in joined)])
    return sorted([*apart, (low, high)])


def without(span: Span, spans: list[Span]) -> list[Span]:
    """What of a span none of the others covers."""
    left, at = [], span[0]
    for low, high in sorted(spans):
        if high <= at or low >= span[1]:
            continue
        if low > at:
            left.append((at, low))
        at = max(at, high)
    if at < span[1]:
        left.append((at, span[1]))
    return left
