"""Where two logs of one case of paths part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rexmit.validate.agree.packet import Packet

Completions = Sequence[int | None]
"""From a burst's first write to its last byte's arrival, by burst; None where it never arrived."""


class PathPacket(NamedTuple):
    """One packet on a path."""

    packet: Packet
    path: int
    data_seq: int | None
    """Of the connection's stream, the first byte."""

    @property
    def what(self) -> tuple[int, int | None, tuple[int, int, bool]]:
        """Which bytes it carries, where."""
        return self.path, self.data_seq, self.packet.what

    @property
    def act(self) -> str:
        """What its sender did, in words."""
        why = self.packet.mechanism or ("new data" if self.packet.length else "bare fin")
        return f"{why} on path {self.path}"


def read(rows: Iterable[Sequence[Any]]) -> list[PathPacket]:
    """The server's data of a `packets` event of paths; times from the first byte of data."""
    data: list[PathPacket] = []
    start: int | None = None
    for row in rows:
        own = len(Packet._fields)
        one = PathPacket(Packet(*row[:own]), row[own], row[own + 1])
        if not one.packet.is_data:
            continue
        start = one.packet.at_ns if start is None else start
        data.append(one._replace(packet=one.packet._replace(at_ns=one.packet.at_ns - start)))
    return data


@dataclass(frozen=True, slots=True)
class PathVerdict:
    """How far two runs of one case agree."""

    retransmissions: bool
    """The same mechanisms in the same order on each path, re-injections included."""
    completion: bool
    """Every burst complete after the same time, within a tick."""
    exact: bool
    """Every packet of the server's data on each path: bytes, mechanism, time within a tick."""
    kind: str | None
    """The class of the disagreement, where there is one in retransmissions or completion."""

    @property
    def agrees(self) -> bool:
        """In what the study of paths reads: retransmissions and completion."""
        return self.retransmissions and self.completion


def compare(
    kernel: tuple[Sequence[PathPacket], Completions],
    model: tuple[Sequence[PathPacket], Completions],
    tick_ns: int,
) -> PathVerdict:
    """Hold the model's server data and completions against the kernel's."""
    (ours, our_times), (theirs, their_times) = kernel, model
    retransmissions = _mechanisms(ours) == _mechanisms(theirs)
    completion = len(our_times) == len(their_times) and all(
        _late(one, two, tick_ns) is None for one, two in zip(our_times, their_times, strict=True)
    )
    kind = None
    if not retransmissions:
        kind = _retransmissions_kind(ours, theirs)
    elif not completion:
        kind = _completion_kind(our_times, their_times, tick_ns)
    if kind is not None and _other_schedule(ours, theirs):
        kind += ", after another schedule"
    return PathVerdict(
        retransmissions=retransmissions,
        completion=completion,
        exact=_same_packets(ours, theirs, tick_ns),
        kind=kind,
    )


def _by_path(data: Sequence[PathPacket]) -> dict[int, list[PathPacket]]:
    """The packets of each path: two paths have no order between them that means anything."""
    found: dict[int, list[PathPacket]] = {}
    for one in data:
        found.setdefault(one.path, []).append(one)
    return found


def _mechanisms(data: Sequence[PathPacket]) -> dict[int, list[str]]:
    """Those of each path that has any, in order."""
    again = [one for one in data if one.packet.mechanism is not None]
    return {
        path: [str(one.packet.mechanism) for one in packets]
        for path, packets in _by_path(again).items()
    }


def _same_packets(ours: Sequence[PathPacket], theirs: Sequence[PathPacket], tick_ns: int) -> bool:
    """Each path carries the same packets for the same reasons at the same times."""

    def same(one: PathPacket, two: PathPacket) -> bool:
        late = abs(one.packet.at_ns - two.packet.at_ns)
        return (
            one.what == two.what
            and one.packet.mechanism == two.packet.mechanism
            and late <= tick_ns
        )

    left, right = _by_path(ours), _by_path(theirs)
    return left.keys() == right.keys() and all(
        len(left[path]) == len(right[path]) and all(map(same, left[path], right[path]))
        for path in left
    )


def _other_schedule(ours: Sequence[PathPacket], theirs: Sequence[PathPacket]) -> bool:
    """A path carried other data before anything was lost on it."""
    left, right = _by_path(ours), _by_path(theirs)
    for path in left.keys() | right.keys():
        for one, two in zip(left.get(path, ()), right.get(path, ()), strict=False):
            if one.what != two.what:
                return True
            if one.packet.dropped:
                break
    return False


def _retransmissions_kind(ours: Sequence[PathPacket], theirs: Sequence[PathPacket]) -> str:
    """By the first retransmission in which the two differ."""
    left, right = (
        [one for one in log if one.packet.mechanism is not None] for log in (ours, theirs)
    )
    for place in range(max(len(left), len(right))):
        one = left[place].act if place < len(left) else "nothing more"
        two = right[place].act if place < len(right) else "nothing more"
        if one != two:
            # A class is the same whichever number its path has.
            (why, _, at), (other, _, place_of) = one.partition(" on "), two.partition(" on ")
            if why == other:
                return f"{why} on another path"
            where = " on another path" if at and place_of and at != place_of else ""
            return f"kernel {why} / model {other}{where}"
    return "retransmissions in another order"


def _late(one: int | None, two: int | None, tick_ns: int) -> str | None:
    """How the model's completion differs from the kernel's; None within a tick."""
    if one is None or two is None:
        return None if one is two else "complete in one of the two only"
    late = two - one
    if abs(late) <= tick_ns:
        return None
    size = "by 1 to 2 ticks" if abs(late) <= 2 * tick_ns else "by more than 2 ticks"
    return f"complete {'later' if late > 0 else 'earlier'} in the model {size}"


def _completion_kind(ours: Completions, theirs: Completions, tick_ns: int) -> str:
    if len(ours) != len(theirs):
        return "another number of bursts"
    for one, two in zip(ours, theirs, strict=True):
        if (late := _late(one, two, tick_ns)) is not None:
            return f"a burst {late}"
    raise ValueError("the two agree")
