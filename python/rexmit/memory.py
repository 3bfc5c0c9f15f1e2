"""Memory that is limited (`ulimit -v`): too little is told before anything fails for want of it.

Polars, its threads and allocators reserve address space, which such a limit counts, of which they
use little. Where they get none they panic, hang or abort, each in words of its own. So it is looked
at before the first of them is imported. Commands that need none of them run with less.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from rexmit.errors import UserError

LEAST: Final = 256 << 20
"""Bytes: Python and all that is imported before a large package fit in, twice."""

LARGE: Final = {"distributed", "matplotlib", "numpy", "obstore", "polars"}
"""Packages that reserve much, or would bring in those that do."""

NEEDED: Final = 2816 << 20
"""Bytes: commands had reserved 2.5 GB at most of small inputs on two cores, all that they import
included; and some for what is read."""

NEEDED_A_CORE: Final = 32 << 20
"""Bytes: a thread of each pool has a stack and an arena of its own."""


def needed() -> int:
    """Bytes of address space that a command needs on this machine."""
    return NEEDED + NEEDED_A_CORE * len(os.sched_getaffinity(0))


def watch() -> None:
    """From here on a limit that is too small is a UserError where a large package is imported.
    Raises UserError where it is too small for any command.
    """
    limit = _limit()
    if limit is not None and limit < LEAST:
        raise _too_little(limit)
    if limit is not None and limit < needed():
        sys.meta_path.insert(0, _Watch())


def available() -> int:
    """Bytes of memory that may be taken up without harm to others, as far as the system says."""
    free = next(
        (
            int(line.split()[1]) << 10
            for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
            if line.startswith("MemAvailable:")
        ),
        2**63,
    )
    allowed = [free, *(limit for limit in (_limit(),) if limit is not None)]
    with suppress(OSError, ValueError):
        # A container has its own.
        group = Path("/sys/fs/cgroup")
        most, taken = (int((group / f"memory.{name}").read_text()) for name in ("max", "current"))
        allowed.append(max(most - taken, 0))
    return min(allowed)


def ran_out() -> UserError:
    """What a MemoryError means to a user."""
    limit = _limit()
    what = "memory ran out"
    if limit is None:
        return UserError(what, "analyse less at a time, or on a machine that has more")
    return UserError(f"{what}: {_allowed(limit)}", "raise it, or analyse less at a time")


def _limit() -> int | None:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def _allowed(limit: int) -> str:
    return f"this shell allows {limit >> 10} kB of address space (ulimit -v)"


class _Watch:
    """Finds no module, and sees all that are looked for."""

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: object = None) -> None:
        if name in LARGE:
            raise _too_little(_limit() or 0)


def _too_little(limit: int) -> UserError:
    return UserError(
        f"{_allowed(limit)}, and {needed() >> 10} are needed",
        f"raise it: ulimit -v {needed() >> 10}, or ulimit -v unlimited",
    )
