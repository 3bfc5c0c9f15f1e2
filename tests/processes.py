"""Other processes, as /proc shows them, and their ends."""

from __future__ import annotations

import ctypes
import signal
from pathlib import Path


def stat_fields(pid: int) -> list[str]:
    """/proc/PID/stat from the state on; empty when there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def state(pid: int) -> str:
    """A letter, like S for one that sleeps; empty when there is no such process."""
    return (stat_fields(pid) or [""])[0]


_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """For Popen's `preexec_fn`: the process ends with these tests, however they end."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
