"""What an engine is to a campaign: it runs cells one by one and gives each back as a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from rexmit.store.record import Record

PLAN_VERSION: Final = 1
"""The version of the plans that engines read."""

CELL_ID: Final = 0
"""The id of a plan's one cell, in the engine's events and in the names of its captures."""


CELLS_A_CORE: Final = 4
"""More cells than this at a time on a core only cost memory, and make kernels seem to hang."""


@dataclass(frozen=True, slots=True)
class Task:
    """A cell to run. `plan` is the cell as an engine reads it, its id `CELL_ID`; all that is random
    in it follows from `seed`."""

    cell: int
    label: str
    config: str
    repeat: int
    seed: int
    plan: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Calls:
    """How an engine and the campaign speak while cells run; all calls come from one thread."""

    on_transfers: Callable[[int], None]
    """So many more transfers are done (fewer, when negative: they did not count)."""

    on_end: Callable[[Record, Path | None], None]
    """A cell has ended. The folder has its captures, `ID-REPETITION.HOST.pcapng`, until this
    returns; None where there are none."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that an engine does not have."""

    why: str
    """What was seen."""
    remedy: str
    """What to do."""


class Engine(Protocol):
    """What runs a scenario's transfers."""

    @property
    def name(self) -> str:
        """As `--engine` names it."""
        ...

    @property
    def slug(self) -> str:
        """What runs the transfers, for the name of a folder: a kernel's version, a stack."""
        ...

    @property
    def words(self) -> list[str]:
        """The words of a command line that choose this very engine."""
        ...

    def identity(self) -> dict[str, Any]:
        """What a run's rows depend on beside its scenario, for run.json."""
        ...

    def hz(self, config: str) -> int:
        """Timer ticks a second of the hosts in a configuration."""
        ...

    def without_patch(self, name: str) -> Lack | None:
        """Why what this optional patch adds is not there; None where it is."""
        ...

    def without_mptcp(self, config: str) -> Lack | None:
        """Why hosts in a configuration cannot speak Multipath TCP; None where nothing says so
        before they try."""
        ...

    def without_control(self, config: str, name: str) -> Lack | None:
        """Why hosts in a configuration do not have this congestion control; None where nothing says
        so before they are asked."""
        ...

    def run(self, tasks: Iterable[Task], calls: Calls, *, jobs: int) -> None:
        """Run every cell, `jobs` at a time.

        Raises UserError for what no other try would do better. However it ends, interrupted too,
        nothing is left running.
        """
        ...


def cores() -> list[int]:
    """The cores that this process may use."""
    import os

    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def slots(jobs: int | None) -> list[int]:
    """The core of each of so many that run at a time; None: one on each core."""
    usable = cores()
    return [usable[slot % len(usable)] for slot in range(jobs or len(usable))]
