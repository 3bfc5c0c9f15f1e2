"""Labels the retransmissions of one host in one part: the kernel's cause, and the need by what
arrived.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rexmit_validate.truth.causes import Cause, mechanisms
from rexmit_validate.truth.follow import SentPacket

SLACK_NS: Final = 5_000_000
"""At most so long after TCP has stamped a segment it passes the capture at its host."""

_WRAP: Final = 1 << 32


@dataclass(slots=True)
class Retransmission:
    """One packet that carries something sent before."""

    sent: SentPacket
    flow: str
    first_sent_ns: int
    needed: bool
    cause: Cause | None = None
    mechanism: str = "unknown"


@dataclass(slots=True)
class Flow:
    """What one host sent on one connection."""

    name: str
    retransmissions: list[Retransmission] = field(default_factory=list)
    bytes: int = 0
    segments: int = 0
    lost: int = 0
    first_ns: int = 0
    last_ns: int = 0


class MismatchError(Exception):
    """The capture and the kernel's log do not tell of the same retransmissions."""


def flows(sent: Sequence[SentPacket]) -> dict[str, Flow]:
    """The flows of one host with their retransmissions, without the kernel's causes."""
    apart: defaultdict[str, list[SentPacket]] = defaultdict(list)
    for one in sent:
        apart[one.packet.flow].append(one)
    return {name: _flow(name, packets) for name, packets in apart.items()}


def _flow(name: str, packets: Sequence[SentPacket]) -> Flow:
    flow = Flow(name, first_ns=packets[0].packet.time_ns, last_ns=packets[-1].packet.time_ns)
    isn = packets[0].packet.seq
    arrived = _Ranges()
    # Where each packet of new bytes ended, and when it was sent.
    ends: list[int] = []
    times: list[int] = []
    highest = 0
    for one in packets:
        packet = one.packet
        if not packet.length:
            continue
        start = (packet.seq - isn) % _WRAP
        end = start + packet.length
        flow.segments += 1
        flow.lost += one.arrived_ns is None
        if start < highest:
            first_ns = times[bisect_right(ends, start)]
            needed = not arrived.cover(start, end)
            flow.retransmissions.append(Retransmission(one, name, first_ns, needed))
        if end > highest:
            flow.bytes += end - highest
            ends.append(end)
            times.append(packet.time_ns)
            highest = end
        if one.arrived_ns is not None:
            arrived.add(start, end)
    return flow


class _Ranges:
    """A set of numbers, as half-open ranges."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> None:
        apart = []
        for low, high in self._ranges:
            if high < start or low > end:
                apart.append((low, high))
            else:
                start, end = min(start, low), max(end, high)
        apart.append((start, end))
        self._ranges = sorted(apart)

    def cover(self, start: int, end: int) -> bool:
        """Whether all from `start` up to `end` are in the set."""
        return any(low <= start and end <= high for low, high in self._ranges)


def join(
    labelled: Mapping[str, Flow], records: Mapping[str, Sequence[Cause]], offset_ns: int
) -> None:
    """Give every retransmission its record; `offset_ns` is what the capture's clock shows more than
    TCP's.

    Raises MismatchError for a retransmission without a record or a record without a retransmission.
    """
    for name in sorted({*labelled, *records}):
        retransmissions = labelled[name].retransmissions if name in labelled else []
        of_flow = records.get(name, [])
        left = iter(retransmissions)
        for record, word in zip(of_flow, mechanisms(of_flow), strict=True):
            for retransmission in _of_record(name, record, left, offset_ns):
                retransmission.cause, retransmission.mechanism = record, word
        if extra := next(left, None):
            packet = extra.sent.packet
            raise MismatchError(
                f"{name}: the packet at {packet.time_ns} ns sends {packet.seq} again, "
                f"and the kernel has no cause for it"
            )


def _of_record(
    name: str, record: Cause, left: Iterator[Retransmission], offset_ns: int
) -> Iterator[Retransmission]:
    """The packets of a record: several where the segment was cut on its way out of the host."""
    at = record.seq
    while at != record.end_seq:
        retransmission = next(left, None)
        wanted = f"{name}: the kernel sent {record.seq} to {record.end_seq} again ({record.text})"
        if retransmission is None:
            raise MismatchError(f"{wanted}, and the capture has no such packet")
        packet = retransmission.sent.packet
        if packet.seq != at or (record.end_seq - at) % _WRAP < packet.length:
            raise MismatchError(
                f"{wanted}, and the capture has {packet.seq} and {packet.length} bytes "
                f"at {packet.time_ns} ns"
            )
        late = packet.time_ns - record.stamp_ns - offset_ns
        if record.stamp_ns and not -SLACK_NS < late < SLACK_NS:
            raise MismatchError(f"{wanted}, and it passed the capture {late} ns later")
        yield retransmission
        at = (at + packet.length) % _WRAP
