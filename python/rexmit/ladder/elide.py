"""Leaving out the uneventful middle of a long transfer, and saying where nothing happens at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rexmit.ladder.steps import Step


@dataclass(frozen=True)
class Gap:
    """So many lines are left out here; `payload_bytes` is what the server sent in them,
    `duplicate_acks` how many of them are further duplicate ACKs.
    """

    lines: int
    payload_bytes: int
    duplicate_acks: int = 0


@dataclass(frozen=True)
class Silence:
    """Nothing is sent, and nothing is under way, for so long: somebody's timer is running."""

    ns: int


Entry: TypeAlias = Step | Gap | Silence


def elide(
    steps: Sequence[Step],
    *,
    every_packet: bool = False,
    opening: int = 8,
    around: int = 2,
    shortest: int = 4,
    silent_ns: int | None = None,
) -> list[Entry]:
    """Keeps the first `opening` lines, the last two, and `around` lines beside every event (the end
    of a silence is one).

    A silence is longer than `silent_ns`; without it, longer than a round trip of the line. A gap of
    fewer than `shortest` lines is not worth its own line and is shown.
    """
    quiet = silences(steps, silent_ns)
    keep = [every_packet or i < opening or i >= len(steps) - 2 for i in range(len(steps))]
    for i, step in enumerate(steps):
        if step.is_event or i in quiet:
            for near in range(max(0, i - around), min(len(steps), i + around + 1)):
                keep[near] = True
    shown: list[Entry] = []
    left: list[Step] = []
    for i, (step, kept) in enumerate(zip(steps, keep, strict=True)):
        if not kept:
            left.append(step)
            continue
        shown += _gap(left, shortest)
        left = []
        if i in quiet:
            shown.append(Silence(quiet[i]))
        shown.append(step)
    return shown + _gap(left, shortest)


def silences(steps: Sequence[Step], silent_ns: int | None = None) -> dict[int, int]:
    """By the number of the step that ends it, ns: what is longer than `silent_ns`, or than a round
    trip of this line.
    """
    least = _round_trip_ns(steps) if silent_ns is None else silent_ns
    gaps: dict[int, int] = {}
    busy_until: int | None = None
    for i, step in enumerate(steps):
        seen = [at for at in (step.sent_ns, step.arrived_ns) if at is not None]
        if busy_until is not None and min(seen) - busy_until > least:
            gaps[i] = min(seen) - busy_until
        busy_until = max(*seen, busy_until or 0)
    return gaps


def _round_trip_ns(steps: Sequence[Step]) -> int:
    """The shortest passages of both directions together; 10 ms where there are none."""
    best: dict[bool, int] = {}
    for step in steps:
        if step.sent_ns is not None and step.arrived_ns is not None:
            took = step.arrived_ns - step.sent_ns
            best[step.from_server] = min(took, best.get(step.from_server, took))
    return sum(best.values()) if len(best) == 2 else 10_000_000


def _gap(left: list[Step], shortest: int) -> list[Entry]:
    if len(left) < shortest:
        return list(left)
    return [
        Gap(
            lines=len(left),
            payload_bytes=sum(step.payload_bytes for step in left if step.from_server),
            duplicate_acks=sum(step.duplicate_acks > 0 for step in left),
        )
    ]
