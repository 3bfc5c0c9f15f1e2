"""Leaving out the uneventful middle of a long transfer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rexmit.ladder.steps import Step


@dataclass(frozen=True)
class Gap:
    """So many lines are left out here; `payload_bytes` is what the server sent in them,
    `duplicate_acks` how many of them are further duplicate ACKs.
    """

    lines: int
    payload_bytes: int
    duplicate_acks: int = 0


def elide(
    steps: Sequence[Step], *, opening: int = 8, around: int = 2, shortest: int = 4
) -> list[Step | Gap]:
    """Keeps the first `opening` lines, the last two, and `around` lines beside every event.

    A gap of fewer than `shortest` lines is not worth its own line and is shown.
    """
    keep = [i < opening or i >= len(steps) - 2 for i in range(len(steps))]
    for i, step in enumerate(steps):
        if step.is_event:
            for near in range(max(0, i - around), min(len(steps), i + around + 1)):
                keep[near] = True
    shown: list[Step | Gap] = []
    left: list[Step] = []
    for step, kept in zip(steps, keep, strict=True):
        if not kept:
            left.append(step)
            continue
        shown += _gap(left, shortest)
        left = []
        shown.append(step)
    return shown + _gap(left, shortest)


def _gap(left: list[Step], shortest: int) -> list[Step | Gap]:
    if len(left) < shortest:
        return list(left)
    return [
        Gap(
            lines=len(left),
            payload_bytes=sum(step.payload_bytes for step in left if step.from_server),
            duplicate_acks=sum(step.duplicate_acks > 0 for step in left),
        )
    ]
