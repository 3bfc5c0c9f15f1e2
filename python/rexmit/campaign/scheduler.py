"""Shares cells over cores: one kernel a core, each pinned, until every cell has its record."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from rexmit.campaign.attempt import Attempt
from rexmit.campaign.grid import Cell

POLL_S: Final = 0.02
"""Real seconds between two looks at the kernels."""

KERNELS_A_CORE: Final = 4
"""More kernels than this on a core only cost memory, and make each of them seem to hang."""

Begin = Callable[[Cell, int], Attempt]
"""Boots a kernel for a cell on a core."""


Stop = Callable[[], bool]
"""Says whether to stop now."""


class Interrupted(Exception):  # noqa: N818 - no error: somebody asked for it
    """The campaign was told to stop."""


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def run(
    cells: Iterable[Cell],
    begin: Begin,
    *,
    jobs: int,
    on_end: Callable[[Attempt], None],
    stop: Stop,
) -> None:
    """Run every cell, `jobs` at a time; `on_end` gets each attempt as its record is complete.

    With more jobs than cores, cores are shared. Raises Interrupted when `stop` says so. However it
    ends, no kernel is left running.
    """
    usable = cores()
    waiting = deque(cells)
    free = deque(range(jobs))
    running: dict[int, Attempt] = {}
    try:
        while waiting or running:
            if stop():
                raise Interrupted
            while waiting and free:
                slot = free.popleft()
                running[slot] = begin(waiting.popleft(), usable[slot % len(usable)])
            for slot, attempt in list(running.items()):
                if attempt.step():
                    on_end(attempt)
                    attempt.close()
                    del running[slot]
                    free.append(slot)
            if not (waiting and free):
                time.sleep(POLL_S)
    finally:
        for attempt in running.values():
            attempt.close()
