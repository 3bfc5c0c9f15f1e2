"""Which cells share a boot, and with which seed: fixed by the scenario alone.

A boot is the unit of repeatability: what a kernel has done before is part of what it does next. So
neither the number of kernels at work nor an interruption may change which cells run in one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rexmit.campaign.grid import Cell
from rexmit.campaign.streams import Streams

ENOUGH_TRANSFERS: Final = 100
"""Consecutive cells share a boot until it has this many transfers: a boot costs as much as some
thirty of them."""


@dataclass(frozen=True, slots=True)
class Boot:
    """Cells that one kernel runs one after the other."""

    id: int
    cells: tuple[Cell, ...]

    @property
    def transfers(self) -> int:
        """How many transfers its cells have together."""
        return sum(cell.repeat for cell in self.cells)


def boots(grid: tuple[Cell, ...]) -> tuple[Boot, ...]:
    """The grid cut into boots, in order."""
    found: list[Boot] = []
    waiting: list[Cell] = []
    for cell in grid:
        waiting.append(cell)
        if sum(one.repeat for one in waiting) >= ENOUGH_TRANSFERS:
            found.append(Boot(len(found), tuple(waiting)))
            waiting = []
    if waiting:
        found.append(Boot(len(found), tuple(waiting)))
    return tuple(found)


def boot_seed(streams: Streams, seed: int, first: Cell) -> int:
    """The seed (64 bits) of a kernel whose first cell is `first`."""
    return streams.stream_u64(seed, "boot", first.id, 1)[0]
