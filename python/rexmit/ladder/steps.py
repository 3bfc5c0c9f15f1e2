"""What each packet of a transfer is: numbers relative to the initial sequence numbers, and its
fate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rexmit.ladder.match import Passage
from rexmit.ladder.packets import in_order
from rexmit.ladder.said import RECORDED, Said

_SPACE = 1 << 32

#: Duplicate ACKs that fast retransmit waits for.
_THRESHOLD = 3


@dataclass(frozen=True)
class Step:
    """One line of the ladder. Times in ns since the first packet; None where it was not seen.

    Sequence and acknowledgement numbers count from the initial sequence numbers, as Wireshark
    counts: SYN is 0, the first byte 1.
    """

    from_server: bool
    sent_ns: int | None
    arrived_ns: int | None
    flags: str
    payload_bytes: int
    seq: int
    ack: int | None
    sack: tuple[tuple[int, int], ...]
    window: int  #: as in the header, not scaled
    dropped: bool  #: by the loss rule
    lost: bool  #: sent, not dropped by the rule, and yet never arrived
    mechanism: str | None
    need: str | None
    again: bool  #: (part of) what it carries is below what the same side sent before
    duplicate_sack: bool  #: its first block reports data that came twice (RFC 2883)
    duplicate_acks: int  #: how many in a row say the same, this one included; 0: it says more
    window_scale: int | None  #: what a SYN offers, as sent
    window_update: bool  #: only the window is another than in the one before
    kind: str | None = None  #: what it is that is neither new nor a retransmission, in words
    mss: int | None = None  #: what a SYN offers
    sack_permitted: bool = False  #: the same
    timestamps: tuple[int, int] | None = None  #: value and echo, as on the wire

    @property
    def seen_ns(self) -> list[int]:
        """When it was seen, at either end."""
        return [at for at in (self.sent_ns, self.arrived_ns) if at is not None]

    @property
    def used(self) -> int:
        """Sequence numbers that the packet takes: its bytes, SYN and FIN one each."""
        return self.payload_bytes + len({"SYN", "FIN"} & set(self.flags.split(", ")))

    def at_ns(self, *, from_server: bool) -> int:
        """When it was seen at the server (else the client); at the other end, where that is not
        known.
        """
        mine = self.from_server == from_server
        here, there = (self.sent_ns, self.arrived_ns)[:: 1 if mine else -1]
        return here if here is not None else there or 0

    @property
    def is_event(self) -> bool:
        """Worth a line whatever stands around it. Of a row of duplicate ACKs the first three are:
        the third is the classic threshold (RFC 5681 section 3.2), what follows repeats them.
        """
        return bool(
            self.dropped
            or self.lost
            or self.again
            or self.kind
            or self.mechanism
            or self.duplicate_sack
            or (self.sack and self.duplicate_acks <= _THRESHOLD)
            or 0 < self.duplicate_acks <= _THRESHOLD
            or {"SYN", "FIN", "RST"} & set(self.flags.split(", "))
            or self.window == 0
        )


def steps(
    passages: Iterable[Passage],
    isn_server: int | None,
    isn_client: int | None,
    start_ns: int | None = None,
    *,
    recorded_again: bool = False,
) -> list[Step]:
    """Lines in order of being sent. The initial numbers told are for captures without a SYN; times
    count from `start_ns`, else from the first packet. `recorded_again`: the capture has packets
    more than once.
    """
    ordered = list(passages)
    if not ordered:
        return []
    first = min(passage.order_ns for passage in ordered)
    start = first if start_ns is None else start_ns
    isn = {
        True: _initial(ordered, from_server=True, isn=isn_server),
        False: _initial(ordered, from_server=False, isn=isn_client),
    }
    every = {True: Said(recorded_again=recorded_again), False: Said(recorded_again=recorded_again)}
    gone = _gone(ordered)
    return [_step(passage, start, isn, every, gone=gone(passage)) for passage in ordered]


def _gone(passages: list[Passage]) -> Callable[[Passage], bool]:
    """Whether a packet that was not seen to arrive was lost: the far end's capture goes on for as
    long after its sending as any packet took.
    """
    until, longest = {True: 0, False: 0}, {True: 0, False: 0}
    for one in passages:
        side = one.packet.from_server
        if one.arrived is not None:
            until[side] = max(until[side], one.arrived.time_ns)
            if one.sent is not None:
                longest[side] = max(longest[side], one.arrived.time_ns - one.sent.time_ns)
        if one.sent is not None:
            until[not side] = max(until[not side], one.sent.time_ns)

    def gone(one: Passage) -> bool:
        side = one.packet.from_server
        return one.arrived is None and one.order_ns + longest[side] < until[side]

    return gone


def _initial(passages: list[Passage], *, from_server: bool, isn: int | None) -> int:
    """The SYN's number; without a SYN what was told, else the first number there is."""
    mine = [p.packet for p in passages if p.packet.from_server == from_server]
    syn = next((packet.seq for packet in mine if "SYN" in packet.flags), isn)
    return syn if syn is not None else mine[0].seq if mine else 0


def _step(
    passage: Passage,
    start: int,
    isn: dict[bool, int],
    every: dict[bool, Said],
    *,
    gone: bool,
) -> Step:
    packet = passage.packet
    ours, theirs = every[packet.from_server], every[not packet.from_server]
    mine, other = isn[packet.from_server], isn[not packet.from_server]
    ack = (packet.ack - other) % _SPACE if "ACK" in packet.flags else None
    sack = tuple(((left - other) % _SPACE, (right - other) % _SPACE) for left, right in packet.sack)
    seq = (packet.seq - mine) % _SPACE
    kind = ours.kind(packet, seq, closed=theirs.window == 0)
    duplicates, update = (0, False) if kind == RECORDED else ours.count_duplicate(packet, ack)
    return Step(
        from_server=packet.from_server,
        sent_ns=passage.sent.time_ns - start if passage.sent else None,
        arrived_ns=passage.arrived.time_ns - start if passage.arrived else None,
        flags=in_order(packet.flags) or "none",
        payload_bytes=packet.payload_bytes,
        seq=seq,
        ack=ack,
        sack=sack,
        window=packet.window,
        window_scale=packet.window_scale,
        mss=packet.mss,
        sack_permitted=packet.sack_permitted,
        timestamps=packet.timestamps,
        dropped=packet.dropped,
        lost=gone and not packet.dropped,
        mechanism=packet.mechanism,
        need=packet.need,
        again=ours.carries_again(packet, seq),
        kind=None if packet.mechanism else kind,
        duplicate_sack=bool(sack) and ack is not None and _reports_duplicate(sack, ack),
        duplicate_acks=duplicates,
        window_update=update,
    )


def _reports_duplicate(sack: tuple[tuple[int, int], ...], ack: int) -> bool:
    """RFC 2883 section 4: the first block is below the acknowledgement or inside the second."""
    left, right = sack[0]
    if (ack - right) % _SPACE < _SPACE // 2:
        return True
    return len(sack) > 1 and sack[1][0] <= left and right <= sack[1][1]
