"""Whether what a row says of times, need and confidence can be, by the row and its packet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.real.clocks import Bounds

UNSEEN_S = 126.0
"""No first timer runs longer (TCP_RTO_MAX of Linux, and its rounding)."""

TICK_S = 0.01
"""How much later than it is due a timer fires: a tick at 100 Hz."""

LEAST_TIMER_S = 0.001

SHARE = 0.1

NO_EVIDENCE = "needed without evidence"

NO_MECHANISM = ("unknown", None)


def broken(row: dict[str, Any], *, seen: bool, quiet: Bounds | None) -> Iterator[str]:
    """What is wrong. `seen`: the capture shows an earlier copy of the row's first byte. `quiet`:
    the sender's wait since the last copy, where it neither sent nor heard anything meanwhile."""
    yield from _times(row, seen=seen, quiet=quiet)
    yield from _sureness(row)
    if row["evidence"] == "none" and row["need"] == "needed":
        yield NO_EVIDENCE


def _times(row: dict[str, Any], *, seen: bool, quiet: Bounds | None) -> Iterator[str]:
    detection, waited, timer = row["detection_s"], row["waited_s"], row["timer_s"]
    for name in ("detection_s", "waited_s"):
        if row[name] is not None and row[name] < 0:
            yield f"{name} is negative"
    longest = max(detection or 0.0, waited or 0.0)
    if not seen and longest > UNSEEN_S:
        yield "an original that nobody saw, longer ago than any timer"
    if timer is None:
        return
    if timer < LEAST_TIMER_S:
        yield "timer_s is shorter than any timer"
    if detection is not None and timer > detection * (1 + SHARE) + TICK_S:
        yield "timer_s is longer than detection_s"
    least = min(quiet[0], quiet[0] if detection is None else detection * 1e9) if quiet else None
    if least is not None and timer < least / 1e9 * (1 - SHARE) - TICK_S:
        yield "timer_s is shorter than the silence before the row"


def _sureness(row: dict[str, Any]) -> Iterator[str]:
    if row["mechanism"] in NO_MECHANISM:
        return
    if row["confidence"] < (row["runner_up_confidence"] or 0.0):
        yield "less likely than its runner-up"
    elif row["confidence"] < 0.5 and not row["either"]:
        yield "named with less than one half"
