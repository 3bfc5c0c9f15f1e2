"""How far benches are off the paper's Table 4, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rexmit.analysis.times import MEASURES, percent
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.beside import NEAR_PERCENT
from rexmit_validate.sensitivity.measure import CellMeans, Settings
from rexmit_validate.sensitivity.unknowns import Unknown

AS_IT_IS: Final = "as written down"

FURTHEST: Final = 100.0
"""Percent. A mean counts as no further off; one that a bench does not have is so far off."""


@dataclass(frozen=True)
class PaperMean:
    """A mean of the paper's table."""

    network: str
    config: str
    measure: str

    @property
    def printed_s(self) -> float:
        """What the paper prints, in seconds."""
        printed: float = getattr(paper.TABLE_4[self.network, self.config], f"{self.measure}_s")
        return printed


CELLS: Final = tuple(
    PaperMean(network, config, measure)
    for measure in reversed(MEASURES)
    for network, config in paper.TABLE_4
)
"""All means of Table 4."""

Means = Mapping[PaperMean, float]


@dataclass(frozen=True)
class BenchRow:
    """One bench: by cell, percent off the paper; None where it has no transfer for the cell."""

    name: str
    off_paper: tuple[float | None, ...]

    def near(self, cells: Sequence[PaperMean], measure: str) -> int:
        """How many cells of a measure are the paper's."""
        return sum(
            off is not None and abs(off) <= NEAR_PERCENT[measure]
            for cell, off in zip(cells, self.off_paper, strict=True)
            if cell.measure == measure
        )

    @property
    def distance(self) -> float:
        """The root of the mean square of what its means are off, percent."""
        return distance(self.off_paper)


@dataclass(frozen=True)
class Sensitivity:
    """The bench and its departures, in order; the first row is the bench as it is. `recorded` has
    what a real kernel showed on benches that the model can have.
    """

    cells: tuple[PaperMean, ...]
    rows: tuple[BenchRow, ...]
    recorded: tuple[Pair, ...] = ()

    def moved(self, row: BenchRow) -> tuple[float | None, ...]:
        """Percentage points (of the paper's figure) between the row and the bench as it is."""
        return tuple(
            None if a is None or b is None else a - b
            for a, b in zip(row.off_paper, self.rows[0].off_paper, strict=True)
        )


@dataclass(frozen=True)
class Pair:
    """A real kernel on a bench and the model on the same: what of a difference is the model's."""

    name: str
    about: str
    kernel: BenchRow
    model: BenchRow
    model_off_kernel: tuple[float | None, ...]


@dataclass(frozen=True)
class Departure:
    """Departures from a bench that go together."""

    unknowns: tuple[Unknown, ...]

    @property
    def name(self) -> str:
        """All of them."""
        return " + ".join(unknown.name for unknown in self.unknowns) or AS_IT_IS

    @property
    def settings(self) -> Settings:
        """What they set."""
        return tuple(setting for unknown in self.unknowns for setting in unknown.set)

    @property
    def read(self) -> dict[str, str]:
        """By measure, how else its time is read."""
        return {m: how for unknown in self.unknowns for m, how in unknown.read.items()}

    @property
    def penalty(self) -> float:
        """What they cost together."""
        return sum(unknown.penalty for unknown in self.unknowns)

    def goes_with(self, unknown: Unknown) -> bool:
        """No other of them touches what it touches."""
        return not any(one.touches & unknown.touches for one in self.unknowns)


def means(cells: Iterable[CellMeans], read: Mapping[str, str]) -> dict[PaperMean, float]:
    """The means of Table 4 of a bench, read as it says."""
    by_cell = {}
    for cell in cells:
        if (cell.network, cell.config) not in paper.TABLE_4:
            continue
        for measure in MEASURES:
            how = read.get(measure)
            mean = cell.means[measure if how is None else f"{measure}_{how}"]
            if mean is not None:
                by_cell[PaperMean(cell.network, cell.config, measure)] = mean
    return by_cell


def row(name: str, measured: Means, cells: Sequence[PaperMean] = CELLS) -> BenchRow:
    """A bench's means against the paper's, whatever was changed."""
    return BenchRow(name, tuple(percent(measured.get(cell), cell.printed_s) for cell in cells))


def distance(off: Iterable[float | None]) -> float:
    """The root of the mean square of percents; what is not there is furthest."""
    each = [FURTHEST if one is None else min(abs(one), FURTHEST) for one in off]
    return math.sqrt(sum(one * one for one in each) / len(each)) if each else FURTHEST
