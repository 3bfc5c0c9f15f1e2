"""What an attempt may come to: its exit status, what it says, what it leaves."""

from __future__ import annotations

import re

from tests.faults.during import SIGNALS
from tests.faults.plan import Fault
from tests.faults.program import Running

FAILED = {1, 125}
"""Exit statuses of what could not be done; 125 of commands for which 1 is a verdict."""

NEVER = (
    "Traceback",
    "Exception ignored",
    "Exception in thread",
    "panicked at",
    "Fatal Python error",
    "terminate called",
)
"""In what a program says."""


def wrong(one: Running, fault: Fault | None, *, damaged: bool) -> list[str]:
    """What is wrong with the end of a call that met this fault, or none."""
    status, out, err = one.status, one.call.out(), one.call.err()
    found = [f"said {word!r}" for word in NEVER if word in err or word in out]
    allowed = {0}
    kind = fault.kind if fault is not None else ""
    if kind in SIGNALS:
        allowed.add(128 + SIGNALS[kind])
    elif kind == "kill":
        allowed.add(-9)
    if damaged or kind in ("kill below", "disk", "shares", "second", "files"):
        allowed |= FAILED
    if status not in allowed:
        found.append(f"ended with {status}, not one of {sorted(allowed)}")
    if status in FAILED and not message(one):
        found.append(f"ended with {status} and no message")
    return found


def message(one: Running) -> str:
    """The last message on standard error with what follows it, or what cells failed of."""
    said = re.split(r"^(?=rexmit: )", one.call.err(), flags=re.MULTILINE)
    last = said[-1] if said[-1].startswith("rexmit: ") else ""
    if re.fullmatch(r"rexmit: [\d,]+ of .*\n", last):  # progress
        last = ""
    failed = [line for line in one.call.out().splitlines() if line.startswith("failed: ")]
    return last or "\n".join(failed)
