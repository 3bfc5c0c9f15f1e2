"""Other processes, as /proc shows them."""

from __future__ import annotations

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
