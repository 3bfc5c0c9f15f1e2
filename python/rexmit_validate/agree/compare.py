"""How far two logs of one case agree, and where they part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Final

from rexmit_validate.agree.packet import Log, LoggedPacket, by_path


@dataclass(frozen=True, slots=True)
class Difference:
    """The first of the server's data packets in which two logs differ."""

    place: int
    """Among the server's data packets on its path, from 0."""
    ours: LoggedPacket | None
    """The kernel's packet there; None where it sent no more."""
    theirs: LoggedPacket | None
    """The model's."""
    what: str
    """`packet`, `mechanism` or `time`."""
    late_ns: int = 0
    """How much later the model's packet left, where both sent one."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far two logs of one case agree. One path is a network of one."""

    packets: bool
    """On each path the same ranges in the same order."""
    mechanisms: bool
    """The same packets, retransmitted for the same reasons."""
    times: bool
    """The same packets, each within a tick."""
    recovery: bool
    """The first retransmission of a dropped byte: the same mechanism, after the same time within a
    tick.
    """
    retransmissions: bool
    """On each path the same mechanisms in the same order, re-injections included."""
    completion: bool
    """Every burst complete after the same time, within a tick."""
    difference: Difference | None

    @property
    def exact(self) -> bool:
        """Every packet agrees: its place, its bytes, its mechanism, its time."""
        return self.packets and self.mechanisms and self.times

    @property
    def agree(self) -> bool:
        """In what a study of paths reads: retransmissions and completion."""
        return self.retransmissions and self.completion


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


def told_alike(one: str | None, other: str | None) -> bool:
    """Alike, of two kernels of which either may have told nothing."""
    return by_counters(one, other) or by_counters(other, one)


def compare(kernel: Log, model: Log, tick_ns: int, alike: Alike = eq) -> Verdict:
    """Hold the model's log against the kernel's."""
    two = _Two(kernel, model, tick_ns, alike)
    pairs = two.pairs(kernel.data, model.data, lambda one, other: one.what == other.what)
    again = two.pairs(kernel.retransmissions, model.retransmissions, two.alike)
    packets = pairs is not None
    return Verdict(
        packets=packets,
        mechanisms=all(two.alike(*pair) for pair in pairs or ()) and packets,
        times=all(abs(two.late_ns(*pair)) <= tick_ns for pair in pairs or ()) and packets,
        recovery=two.same_recovery(),
        retransmissions=again is not None,
        completion=len(kernel.completions) == len(model.completions)
        and all(
            same_time(*times, tick_ns)
            for times in zip(kernel.completions, model.completions, strict=True)
        ),
        difference=two.first_difference(),
    )


def same_time(one: int | None, two: int | None, tick_ns: int) -> bool:
    """Whether a burst came after the same time, within a tick, or never did."""
    if one is None or two is None:
        return one is two
    return abs(two - one) <= tick_ns


@dataclass(frozen=True, slots=True)
class _Two:
    """Both logs of a case."""

    kernel: Log
    model: Log
    tick_ns: int
    by: Alike

    def alike(self, one: LoggedPacket, two: LoggedPacket) -> bool:
        """Whether both were sent for the same reason."""
        return self.by(one.mechanism, two.mechanism)

    def late_ns(self, one: LoggedPacket, two: LoggedPacket) -> int:
        """How much later the model's packet left."""
        return self.model.after_ns(two) - self.kernel.after_ns(one)

    def pairs(
        self,
        ours: Sequence[LoggedPacket],
        theirs: Sequence[LoggedPacket],
        same: Callable[[LoggedPacket, LoggedPacket], bool],
    ) -> list[tuple[LoggedPacket, LoggedPacket]] | None:
        """The packets in the same places of each path; None where two are not the `same`, or one
        has none there.
        """
        left, right = by_path(ours), by_path(theirs)
        if {path: len(own) for path, own in left.items()} != {
            path: len(own) for path, own in right.items()
        }:
            return None
        pairs = [pair for path in left for pair in zip(left[path], right[path], strict=True)]
        return pairs if all(same(*pair) for pair in pairs) else None

    def first_difference(self) -> Difference | None:
        """The earliest of those of each path."""
        left, right = by_path(self.kernel.data), by_path(self.model.data)
        differences = [
            difference
            for path in sorted(left.keys() | right.keys())
            if (difference := self._first(left.get(path, ()), right.get(path, ()))) is not None
        ]
        return min(differences, key=self._when, default=None)

    def _when(self, difference: Difference) -> int:
        times = []
        if difference.ours is not None:
            times.append(self.kernel.after_ns(difference.ours))
        if difference.theirs is not None:
            times.append(self.model.after_ns(difference.theirs))
        return min(times)

    def _first(
        self, ours: Sequence[LoggedPacket], theirs: Sequence[LoggedPacket]
    ) -> Difference | None:
        for place in range(max(len(ours), len(theirs))):
            one = ours[place] if place < len(ours) else None
            two = theirs[place] if place < len(theirs) else None
            if one is None or two is None:
                return Difference(place, one, two, "packet")
            late_ns = self.late_ns(one, two)
            if one.what != two.what:
                return Difference(place, one, two, "packet", late_ns)
            if not self.alike(one, two):
                return Difference(place, one, two, "mechanism", late_ns)
            if abs(late_ns) > self.tick_ns:
                return Difference(place, one, two, "time", late_ns)
        return None

    def same_recovery(self) -> bool:
        """Whether both retransmit what was dropped first for the same reason, as soon."""
        one, two = recovery(self.kernel.data), recovery(self.model.data)
        if one is None or two is None:
            return one is two
        return self.by(one[0], two[0]) and abs(one[1] - two[1]) <= self.tick_ns


Recovery = tuple[str | None, int]


def recovery(data: Sequence[LoggedPacket]) -> Recovery | None:
    """The first retransmission of dropped bytes, on whichever path: its mechanism and the time
    since the drop.
    """
    first_drop: int | None = None
    lost: list[tuple[int, int]] = []
    for packet in data:
        span = packet.span
        again = any(start < span[1] and span[0] < end for start, end in lost)
        if again and packet.mechanism is not None and first_drop is not None:
            return packet.mechanism, packet.at_ns - first_drop
        if packet.dropped:
            first_drop = packet.at_ns if first_drop is None else first_drop
            lost.append(span)
    return None
