"""What goes wrong during an attempt."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from tests.faults.place import Place
from tests.faults.plan import Fault
from tests.faults.program import Call, Running, start

SIGNALS = {"int": signal.SIGINT, "term": signal.SIGTERM, "hup": signal.SIGHUP}

PATIENCE_S = 60.0
"""Real seconds for an attempt on a machine that does other things as well."""


@dataclasses.dataclass
class Course:
    """How an attempt went."""

    calls: list[Running]
    """The first, and the second copy."""
    applied: bool = False
    """The fault came before the end."""
    hung: bool = False


def attempt(call: Call, fault: Fault, place: Place, usual_s: float) -> Course:
    """Run the call and let the fault happen."""
    if fault.kind == "files":
        # Python takes a dozen to start, and Polars panics with fewer than nine.
        fewest = 16 if call.process else 10
        call = dataclasses.replace(call, most_files=int(fewest + 60 * fault.number**2))
    running = start(call)
    course = Course([running], applied=fault.kind == "files")
    try:
        if fault.kind != "files" and not running.wait(fault.moment * usual_s):
            _apply(fault, course, place)
        for one in course.calls:
            course.hung |= not one.wait(PATIENCE_S)
    finally:
        place.disk.enlarge()
        place.shares.enlarge()
    return course


def _apply(fault: Fault, course: Course, place: Place) -> None:
    running = course.calls[0]
    if fault.kind in SIGNALS:
        # Before, signals are Python's own affair.
        while not running.poll() and not running.sees_to_signals():
            time.sleep(0.001)
        course.applied = not running.poll()
        running.send(SIGNALS[fault.kind])
    elif fault.kind == "kill":
        course.applied = True
        running.send(signal.SIGKILL)
    elif fault.kind == "stop":
        course.applied = True
        running.send(signal.SIGSTOP)
        time.sleep(0.05 + 0.95 * fault.number)
        running.send(signal.SIGCONT)
    elif fault.kind in ("kill below", "stop below"):
        _below(fault, course)
    elif fault.kind == "disk":
        course.applied = True
        place.disk.leave(int(300 * fault.number**3))
    elif fault.kind == "shares":
        course.applied = True
        place.shares.leave(int(300 * fault.number**3))
    elif fault.kind == "second":
        course.applied = True
        said = running.call.said.with_name("second")
        course.calls.append(start(dataclasses.replace(running.call, said=said)))
    else:
        raise ValueError(fault.kind)


def _below(fault: Fault, course: Course) -> None:
    running = course.calls[0]
    while not (pids := [pid for pid in running.below() if _may_meet(pid, fault.kind)]):
        if running.poll():
            return
        time.sleep(0.002)
    pid = pids[int(fault.number * len(pids))]
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL if fault.kind == "kill below" else signal.SIGSTOP)
        course.applied = True
        if fault.kind == "stop below":
            time.sleep(0.05 + 0.95 * fault.other)
            os.kill(pid, signal.SIGCONT)


def _may_meet(pid: int, kind: str) -> bool:
    """A process of a user-mode kernel is traced by it: to stop it is a fault in that kernel."""
    if kind != "stop below":
        return True
    with suppress(OSError):
        return "TracerPid:\t0\n" in Path(f"/proc/{pid}/status").read_text()
    return False
