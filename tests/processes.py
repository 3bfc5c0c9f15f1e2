"""Other processes, as /proc shows them, and their ends."""

from __future__ import annotations

import ctypes
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def run_command(
    line: Sequence[str | Path],
    *,
    timeout: float = 3600,
    **how: Any,  # noqa: ANN401 - of subprocess.run
) -> subprocess.CompletedProcess[str]:
    """What a command said, and how it ended."""
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=timeout, **how)


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
