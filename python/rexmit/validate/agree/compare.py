"""Where two logs of one case part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Final

from rexmit.validate.agree.packet import Packet


@dataclass(frozen=True, slots=True)
class Difference:
    """The first of the server's data packets in which two logs differ."""

    place: int
    """Among the server's data packets, from 0."""
    ours: Packet | None
    """The kernel's packet there; None where it sent no more."""
    theirs: Packet | None
    """The model's."""
    what: str
    """`packet`, `mechanism` or `time`."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far two logs of one case agree."""

    packets: bool
    """The same ranges in the same order."""
    mechanisms: bool
    """The same packets, retransmitted for the same reasons."""
    times: bool
    """The same packets, each within a tick."""
    recovery: bool
    """The first retransmission of a dropped byte: the same mechanism, after the same time within a
    tick.
    """
    difference: Difference | None

    @property
    def exact(self) -> bool:
        """Every packet agrees: its place, its bytes, its mechanism, its time."""
        return self.packets and self.mechanisms and self.times

    @property
    def agrees(self) -> bool:
        """What is counted: every packet."""
        return self.exact


Alike = Callable[[str | None, str | None], bool]
"""Whether a mechanism of the kernel's is the model's."""

_UNKNOWN: Final = "unknown"
_FAST: Final = "fast-retransmit"
_COUNTED_AS_FAST: Final = ("fack", "early-retransmit")


def by_counters(kernel: str | None, model: str | None) -> bool:
    """Alike, of a kernel without a record of causes: its counters (`TCPFastRetrans`) do not tell
    all mechanisms apart, and of some they tell nothing.
    """
    if kernel == _UNKNOWN:
        return model is not None
    return kernel == model or (kernel == _FAST and model in _COUNTED_AS_FAST)


def compare(
    kernel: Sequence[Packet], model: Sequence[Packet], tick_ns: int, alike: Alike = eq
) -> Verdict:
    """Hold the model's log against the kernel's."""
    ours = [packet for packet in kernel if packet.is_data]
    theirs = [packet for packet in model if packet.is_data]
    pairs = list(zip(ours, theirs, strict=False))
    packets = len(ours) == len(theirs) and all(one.what == two.what for one, two in pairs)
    return Verdict(
        packets=packets,
        mechanisms=packets and all(alike(one.mechanism, two.mechanism) for one, two in pairs),
        times=packets and all(_close(one, two, tick_ns) for one, two in pairs),
        recovery=_same_recovery(recovery(ours), recovery(theirs), tick_ns, alike),
        difference=_first(ours, theirs, tick_ns, alike),
    )


def _close(one: Packet, two: Packet, tick_ns: int) -> bool:
    return abs(one.at_ns - two.at_ns) <= tick_ns


def _first(
    ours: Sequence[Packet], theirs: Sequence[Packet], tick_ns: int, alike: Alike
) -> Difference | None:
    for place in range(max(len(ours), len(theirs))):
        one = ours[place] if place < len(ours) else None
        two = theirs[place] if place < len(theirs) else None
        if one is None or two is None or one.what != two.what:
            return Difference(place, one, two, "packet")
        if not alike(one.mechanism, two.mechanism):
            return Difference(place, one, two, "mechanism")
        if not _close(one, two, tick_ns):
            return Difference(place, one, two, "time")
    return None


Recovery = tuple[str | None, int]


def recovery(data: Sequence[Packet]) -> Recovery | None:
    """The first retransmission of dropped bytes: its mechanism and the time since the drop."""
    first_drop: int | None = None
    lost: list[tuple[int, int]] = []
    for packet in data:
        span = (packet.seq, packet.seq + packet.length + packet.fin)
        again = any(start < span[1] and span[0] < end for start, end in lost)
        if again and packet.mechanism is not None and first_drop is not None:
            return packet.mechanism, packet.at_ns - first_drop
        if packet.dropped:
            first_drop = packet.at_ns if first_drop is None else first_drop
            lost.append(span)
    return None


def _same_recovery(one: Recovery | None, two: Recovery | None, tick_ns: int, alike: Alike) -> bool:
    if one is None or two is None:
        return one is two
    return alike(one[0], two[0]) and abs(one[1] - two[1]) <= tick_ns
