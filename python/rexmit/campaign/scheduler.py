"""Shares boots over cores: one kernel a core, each pinned, until every boot has its record."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from rexmit.campaign.attempt import Attempt
from rexmit.campaign.boots import Boot
from rexmit.store.record import Record

POLL_S: Final = 0.02
"""Real seconds between two looks at the kernels."""

Begin = Callable[[Boot, int], Attempt]
"""Starts a boot on a core."""


Stop = Callable[[], bool]
"""Says whether to stop now."""


class Interrupted(Exception):  # noqa: N818 - no error: somebody asked for it
    """The campaign was told to stop."""


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def run(
    boots: Iterable[Boot],
    begin: Begin,
    *,
    jobs: int,
    on_record: Callable[[Record], None],
    stop: Stop,
) -> None:
    """Run every boot, `jobs` at a time; `on_record` gets each record as its boot ends.

    With more jobs than cores, cores are shared. Raises Interrupted when `stop` says so. However it
    ends, no kernel is left running.
    """
    usable = cores()
    waiting = deque(boots)
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
                    del running[slot]
                    free.append(slot)
                    on_record(attempt.record)
            if not (waiting and free):
                time.sleep(POLL_S)
    finally:
        for attempt in running.values():
            attempt.close()
