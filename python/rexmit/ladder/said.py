"""What one side of a connection has said so far, and what a packet of it is beside that."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from rexmit.ladder.packets import Key, Packet

RECORDED: Final = "recorded again"
"""Of a packet that the capture has more than once."""

KEPT_OPEN: Final = ("window probe", "keep-alive")
"""Of packets that ask whether the peer is there, or takes more."""

_SPACE: Final = 1 << 32

_AT_ONCE_NS: Final = 500_000
"""No sender repeats itself so soon: what comes again within this time was doubled on its way."""

_LATELY: Final = 64
"""Packets among which the first of two doubles is looked for."""


@dataclass
class Said:
    """What one side has said so far; sequence and acknowledgement numbers relative.
    `recorded_again`: the capture has packets more than once.
    """

    recorded_again: bool = False
    sent_to: int = 0  #: one past the highest sequence number used
    ack: int | None = None
    window: int | None = None
    duplicates: int = 0
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Of bytes that were sent, in order; none touches another."""
    flags: set[tuple[str, int]] = field(default_factory=set)  #: SYN and FIN, and their numbers
    lately: deque[tuple[Key, int, str | None]] = field(
        default_factory=lambda: deque(maxlen=_LATELY)
    )
    """Keys of the last packets, when they came (ns), and what they were."""

    def kind(self, packet: Packet, seq: int, *, closed: bool) -> str | None:
        """What a packet is that says nothing new though its numbers may look so, None for others;
        `closed`: its peer's window is.
        """
        key = packet.key
        alike = [(at_ns, kind) for one, at_ns, kind in self.lately if one == key]
        soon = any(packet.time_ns - at_ns < _AT_ONCE_NS for at_ns, _ in alike)
        if soon and self.recorded_again:
            kind: str | None = RECORDED
        else:
            copied = any(kind is None for _, kind in alike)
            kind = self._kind(packet, self._near(seq), closed=closed, copied=copied, soon=soon)
        self.lately.append((key, packet.time_ns, kind))
        return kind

    def _kind(
        self, packet: Packet, seq: int, *, closed: bool, copied: bool, soon: bool
    ) -> str | None:
        used = packet.payload_bytes + len(packet.flags & {"SYN", "FIN"})
        if not used and (packet.flags != frozenset({"ACK"}) or not self.sent_to):
            return None
        last = packet.payload_bytes <= 1 and used == packet.payload_bytes
        if last and seq == self.sent_to - 1 and (closed or not (used and copied)):
            return KEPT_OPEN[0 if closed else 1]
        if not used:
            return None
        end = seq + packet.payload_bytes
        flags = {(flag, end) for flag in packet.flags & {"SYN", "FIN"}}
        shown = self._shown(seq, end) or bool(flags & self.flags)
        self.flags |= flags
        if packet.payload_bytes:
            self._show(seq, end)
        if seq >= self.sent_to:
            return None
        if not shown:
            return "out of order"
        return "came twice" if soon else "seen before"

    def _near(self, seq: int) -> int:
        """A number, which the wire counts to 2^32, nearest to the highest so far."""
        return self.sent_to + (seq - self.sent_to + _SPACE // 2) % _SPACE - _SPACE // 2

    def _shown(self, start: int, end: int) -> bool:
        first = bisect_right(self.spans, start, key=itemgetter(1))
        return start < end and first < len(self.spans) and self.spans[first][0] < end

    def _show(self, start: int, end: int) -> None:
        first = bisect_left(self.spans, start, key=itemgetter(1))
        after = bisect_right(self.spans, end, key=itemgetter(0))
        for here, there in self.spans[first:after]:
            start, end = min(start, here), max(end, there)
        self.spans[first:after] = [(start, end)]

    def carries_again(self, packet: Packet, seq: int) -> bool:
        """Whether sequence numbers are used that were used before (SYN and FIN use one each)."""
        used, seq = packet.payload_bytes + len(packet.flags & {"SYN", "FIN"}), self._near(seq)
        again = used > 0 and seq < self.sent_to
        if used:
            self.sent_to = max(self.sent_to, seq + used)
        return again

    def count_duplicate(self, packet: Packet, ack: int | None) -> tuple[int, bool]:
        """(duplicates in a row, window update): bare, with the highest acknowledgement so far, and
        the same window (RFC 5681 section 2); with SACK blocks whatever the window (RFC 6675).
        """
        bare = packet.payload_bytes == 0 and packet.flags == frozenset({"ACK"})
        same = bare and ack is not None and ack == self.ack
        update = same and not packet.sack and packet.window != self.window
        if same and not update:
            self.duplicates += 1
        elif ack is not None and (self.ack is None or ack > self.ack):
            self.duplicates = 0
        if ack is not None:
            self.ack = max(ack, self.ack or 0)
            self.window = packet.window
        return (self.duplicates if same and not update else 0), update
