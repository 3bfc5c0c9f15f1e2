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

OVER = 1.1
"""By how much a timer that is known only roughly may be off."""

NO_EVIDENCE = "needed without evidence"

NO_MECHANISM = ("unknown", None)


def broken(row: dict[str, Any], *, seen: bool, waits: Bounds | None, quiet: bool) -> Iterator[str]:
    """What is wrong. `seen`: the capture shows an earlier copy of the row's first byte. `waits`:
    how long the sender waited since that copy, where it is known. `quiet`: the sender neither sent
    nor heard anything meanwhile."""
    yield from _times(row, seen=seen)
    if waits and seen:
        yield from _waits(row, waits, quiet=quiet)
    yield from _sureness(row)
    if row["evidence"] == "none" and row["need"] == "needed":
        yield NO_EVIDENCE


def _times(row: dict[str, Any], *, seen: bool) -> Iterator[str]:
    detection, waited, timer = row["detection_s"], row["waited_s"], row["timer_s"]
    for name in ("detection_s", "waited_s"):
        if row[name] is not None and row[name] < 0:
            yield f"{name} is negative"
    if not seen and max(detection or 0.0, waited or 0.0) > UNSEEN_S:
        yield "an original that nobody saw, longer ago than any timer"
    if timer is not None and timer < LEAST_TIMER_S:
        yield "timer_s is shorter than any timer"
    elif timer is not None and detection is not None and timer > detection * OVER + TICK_S:
        yield "timer_s is longer than detection_s"


def _waits(row: dict[str, Any], waits: Bounds, *, quiet: bool) -> Iterator[str]:
    """Times against what the sender's clock shows. Nothing sets a timer anew in silence."""
    least, most = waits[0] / 1e9, waits[1] / 1e9
    detection, timer = row["detection_s"], row["timer_s"]
    if detection is not None and not least - TICK_S <= detection <= most + TICK_S:
        yield "detection_s is not the wait that the sender's clock shows"
    if quiet and timer is not None and timer * OVER + TICK_S < least:
        yield "timer_s is shorter than the silence before the row"


def _sureness(row: dict[str, Any]) -> Iterator[str]:
    if row["mechanism"] in NO_MECHANISM:
        return
    if row["confidence"] < (row["runner_up_confidence"] or 0.0):
        yield "less likely than its runner-up"
    elif row["confidence"] < 0.5 and not row["either"]:
        yield "named with less than one half"
