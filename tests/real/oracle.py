"""What is certain in a capture: a plain, slow account that shares nothing with the analyser.

A retransmission is certain where a packet carries a byte, a SYN or a FIN that its direction has
already shown in this connection, and is neither a double that the capture made, nor a keep-alive,
nor a probe of a closed window.

A double is the same packet once more. Two things tell it from a retransmission that is the same in
all else: its identification, and a lower time to live, as a router has passed it on. Where a packet
has no identification (IPv6, or 0) and comes within the time in which networks and captures double
packets, and nothing from the peer speaks of a loss, neither is certain.

What was never shown may be one, too, where its sender has shown a higher number before: its first
copy did not come by, or it comes late. No other fact in the packets themselves speaks for that.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.real.options import parse
from tests.real.packets import ACK, FIN, RST, SYN, Packet

AT_ONCE_NS = 500_000
"""No sender repeats itself so soon: what comes again within this time was doubled on its way."""

NO_TIMER_NS = 100_000_000
"""Nor within this time by a timer that keeps the identification (RFC 1122 §3.2.1.5)."""

FAR = 1 << 30
"""A number farther away than the largest window (RFC 7323 §2.3) is of another connection."""

FEWEST = 2
"""Duplicate ACKs that make a sender of any stack send again (`TcpMaxDupAcks` of old Windows)."""

LATELY = 64
"""Packets of a flow among which the first of two doubles is looked for."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A packet and what it is: `new`, `hole` (new, below a number that its sender has shown),
    `certain`, `double`, `unclear` (one of these two), `keep-alive`, `probe`, `bare` (nothing that
    takes up sequence numbers) or `other` (a reset, a stray)."""

    packet: Packet
    kind: str
    start: int = 0
    """Of what it carries, counted from the first number that the flow showed."""
    end: int = 0


@dataclass(slots=True)
class _Flow:
    """One direction of one connection."""

    base: int
    """The sequence number that counts as 0."""
    isn: int | None = None
    top: int = 0
    """Above all that was shown."""
    next: int = 0
    """The highest number that a packet began or ended with, with payload or without."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    marks: set[tuple[str, int]] = field(default_factory=set)
    lately: deque[Packet] = field(default_factory=lambda: deque(maxlen=LATELY))
    closed: bool = False
    window: int | None = None
    """What it offers its peer, as its last packet says."""
    probed: set[int] = field(default_factory=set)
    """Single bytes that it sent into a closed window: refused there, they are sent once more."""
    acked: int | None = None
    """The highest acknowledgement of its peer."""

    def place(self, seq: int) -> int:
        """A number's distance from `base`, nearest to what was shown last."""
        near = (seq - self.base - self.top + (1 << 31)) % (1 << 32) - (1 << 31)
        return self.top + near

    def shown(self, start: int, end: int) -> bool:
        """Any of these bytes was shown."""
        return any(start < there and here < end for here, there in self.spans)

    def show(self, start: int, end: int) -> None:
        apart = [span for span in self.spans if span[1] < start or end < span[0]]
        joined = [span for span in self.spans if not (span[1] < start or end < span[0])]
        low = min([start, *(span[0] for span in joined)])
        high = max([end, *(span[1] for span in joined)])
        self.spans = sorted([*apart, (low, high)])
        self.top = max(self.top, high)


def account(packets: Iterable[Packet]) -> list[Seen]:
    """What each packet is."""
    flows: dict[tuple[str, int, str, int], _Flow] = {}
    return [_account(packet, flows) for packet in packets]


def _account(packet: Packet, flows: dict[tuple[str, int, str, int], _Flow]) -> Seen:
    flow = _flow(packet, flows)
    peer = flows.get(packet.reverse)
    if _is_double(packet, flow):
        return Seen(packet, "double")
    again = "unclear" if _may_be_double(packet, flow, peer) else "certain"
    flow.lately.append(packet)
    if packet.flags & RST:
        flow.closed = True
        return Seen(packet, "other")
    flow.window = packet.window
    if peer is not None and packet.flags & ACK:
        ack = peer.place(packet.ack)
        peer.acked = ack if peer.acked is None else max(peer.acked, ack)
    start = flow.place(packet.seq)
    if packet.flags & SYN:
        shown = ("syn", start) in flow.marks
        flow.marks.add(("syn", start))
        flow.top = max(flow.top, start + 1)
        return Seen(packet, again if shown else "new", start, start + 1)
    end = start + packet.length
    fin = bool(packet.flags & FIN)
    if not packet.length and not fin:
        below = start == flow.top - 1 and flow.spans
        if abs(start - flow.top) <= FAR:
            flow.next = max(flow.next, start)
        return Seen(packet, "keep-alive" if below else "bare", start, end)
    if abs(start - flow.top) > FAR:
        return Seen(packet, "other", start, end)
    if packet.length == 1 and not fin and start == flow.top - 1 and not _is_new(flow, start, end):
        if start in flow.probed or (peer is not None and peer.window == 0):
            return Seen(packet, "probe", start, end)
        # A keep-alive repeats a byte that has arrived, after a silence (RFC 1122 §4.2.3.6).
        if again != "unclear" and (flow.acked is None or flow.acked >= end):
            return Seen(packet, "keep-alive", start, end)
    if peer is not None and peer.window == 0 and start >= 0 and _in_closed(packet, flow, peer):
        shown = flow.shown(start, end)
        flow.show(start, end)
        if packet.length == 1:
            flow.probed.add(start)
        return Seen(packet, "probe" if shown else "new", start, end)
    shown = packet.length > 0 and flow.shown(start, end)
    hole = start < flow.next
    if fin:
        shown |= ("fin", end) in flow.marks
        flow.marks.add(("fin", end))
        flow.closed = True
    if packet.length:
        flow.show(start, end)
    flow.top = max(flow.top, end + fin)
    flow.next = max(flow.next, flow.top)
    return Seen(packet, again if shown else "hole" if hole else "new", start, end + fin)


def _bare(packet: Packet) -> bool:
    return not packet.length and not packet.flags & (SYN | FIN | RST)


def _in_closed(packet: Packet, flow: _Flow, peer: _Flow) -> bool:
    """A packet into a window that is closed."""
    last = next((one for one in reversed(peer.lately) if one.flags & ACK), None)
    if last is None:
        return False
    return flow.place(last.ack) == flow.place(packet.seq)


def _is_new(flow: _Flow, start: int, end: int) -> bool:
    return not flow.shown(start, end)


def _flow(packet: Packet, flows: dict[tuple[str, int, str, int], _Flow]) -> _Flow:
    """The flow of a packet: a SYN with another number begins another connection."""
    found = flows.get(packet.flow)
    opens = packet.flags & SYN and not packet.flags & RST
    other = opens and found is not None and found.isn != packet.seq
    if found is None or other:
        found = _Flow(base=packet.seq, isn=packet.seq if opens else None)
        if opens and not packet.flags & ACK:
            flows.pop(packet.reverse, None)
        flows[packet.flow] = found
    return found


def _is_double(packet: Packet, flow: _Flow) -> bool:
    for before in _same(packet, flow):
        soon = abs(packet.time_ns - before.time_ns) < AT_ONCE_NS
        # Linux sends 0 where there are no fragments to be told apart.
        if soon or packet.hops < before.hops or (packet.ip_id and _counts(flow)):
            return True
    return False


def _same(packet: Packet, flow: _Flow) -> Iterator[Packet]:
    """The packets just before that are the same, the latest first."""
    for before in reversed(flow.lately):
        same = (
            before.seq == packet.seq
            and before.ack == packet.ack
            and before.length == packet.length
            and before.flags == packet.flags
            and before.window == packet.window
            and before.ip_id == packet.ip_id
            and before.options == packet.options
        )
        if same and abs(packet.time_ns - before.time_ns) < NO_TIMER_NS:
            yield before


def _may_be_double(packet: Packet, flow: _Flow, peer: _Flow | None) -> bool:
    """One without an identification is the same as one just before, and since then fewer duplicate
    ACKs came for it than the least threshold of any stack, and none with SACK blocks."""
    before = next(_same(packet, flow), None)
    if before is None or packet.ip_id:
        return False
    since = [one for one in peer.lately if one.time_ns >= before.time_ns] if peer else []
    repeats = sum(_bare(one) and one.ack == packet.seq for one in since)
    return repeats < FEWEST and not any(parse(one.options).blocks for one in since)


def _counts(flow: _Flow) -> bool:
    """Packets of this flow have identifications of their own: the same one is the same packet."""
    few = len(flow.lately) < 4
    return few or len({packet.ip_id for packet in flow.lately}) > 1


def tally(seen: Iterable[Seen]) -> Counter[str]:
    """How many packets there are of each kind."""
    return Counter(one.kind for one in seen)
