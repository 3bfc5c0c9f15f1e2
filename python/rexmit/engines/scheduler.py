"""Shares cells over cores: one kernel a core, each pinned, until every cell has its record."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from rexmit.engines.attempt import Attempt
from rexmit.engines.engine import Calls, Task, cores

POLL_S: Final = 0.02
"""Real seconds between two looks at the kernels."""

Begin = Callable[[Task, int], Attempt]
"""Boots a kernel for a cell on a core."""


def run(tasks: Iterable[Task], begin: Begin, calls: Calls, *, jobs: int) -> None:
    """Run every cell, `jobs` at a time.

    With more jobs than cores, cores are shared. However it ends, no kernel is left running.
    """
    usable = cores()
    waiting = deque(tasks)
    free = deque(range(jobs))
    running: dict[int, Attempt] = {}
    try:
        while waiting or running:
            while waiting and free:
                slot = free.popleft()
                running[slot] = begin(waiting.popleft(), usable[slot % len(usable)])
            for slot, attempt in list(running.items()):
                if attempt.step():
                    calls.on_end(attempt.record, attempt.captures)
                    attempt.close()
                    del running[slot]
                    free.append(slot)
            if not (waiting and free):
                time.sleep(POLL_S)
    finally:
        for attempt in running.values():
            attempt.close()
