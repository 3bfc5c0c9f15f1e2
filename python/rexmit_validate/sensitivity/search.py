"""The benches nearest to the paper among combinations of departures.

What is searched: level by level, the best of a level with one departure more. Nothing is fitted
continuously: a departure is one that is written down in the file of unknowns, whole or not at all.
A bench's score is its distance and a penalty for each departure; the lower, the nearer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rexmit.analysis.times import MEASURES
from rexmit.errors import UserError
from rexmit_validate.sensitivity.departures import (
    CELLS,
    BenchRow,
    Departure,
    Means,
    PaperMean,
    distance,
    means,
    row,
)
from rexmit_validate.sensitivity.measure import Benches, Settings
from rexmit_validate.sensitivity.unknowns import Unknown, keys

WIDTH: Final = 30
"""Benches of a level that the next is made of."""


@dataclass(frozen=True)
class Bench:
    """A combination of departures. `off_paper` by cell, percent; None where the bench has no
    transfer for the cell.
    """

    departures: tuple[str, ...]
    score: float
    distance: float
    penalty: float
    near: dict[str, int]  #: by measure, cells that count as the paper's
    held_out: float | None  #: the distance of the means that it was not chosen by
    off_paper: tuple[float | None, ...]
    means_s: tuple[float | None, ...]
    command: str


@dataclass(frozen=True)
class Share:
    """A departure among the nearest benches, and the best score with and without it."""

    name: str
    about: str
    nearest: int  #: how many of the nearest have it
    best_with: float | None
    best_without: float | None


@dataclass(frozen=True)
class Search:
    """What a search found; `nearest` in order of score, measured with `repeat` transfers a cell.

    With `start` the means are what a real kernel showed on that bench, plus what the model says
    that the departures change: its error there is taken out. `cells` are then those that the
    kernel's rows and the model on that bench have. With `hold_out`, a network or time, scores and
    distances are of all other cells.
    """

    start: str | None
    hold_out: str | None
    cells: tuple[PaperMean, ...]
    benches: int  #: combinations that were measured
    repeat: int | None
    base: Bench
    nearest: tuple[Bench, ...]
    shares: tuple[Share, ...]


@dataclass(frozen=True)
class Start:
    """A bench on which a real kernel left rows: what makes it, the kernel's means there."""

    name: str
    settings: Settings
    kernel: Means


class Limits(NamedTuple):
    """At most so many departures `together`; of each number of them the best `width` are taken
    further; so many of the nearest are kept. The cells of the network or time `hold_out` have
    no say in any of it.
    """

    together: int
    keep: int
    width: int = WIDTH
    hold_out: str | None = None


def search(
    quick: Benches,
    full: Benches,
    unknowns: Sequence[Unknown],
    limits: Limits,
    *,
    repeat: int | None,
    start: Start | None = None,
) -> Search:
    """Combinations of departures, measured in `quick`; the nearest of them once more in `full`."""
    cells = CELLS if start is None else _shared(start, quick, full)
    judge = _Judge(cells, start, limits.hold_out)
    if start is not None:
        # What makes the kernel's bench cannot be changed twice.
        own = keys(start.settings)
        unknowns = [one for one in unknowns if not one.touches & own]
    base = Departure(())
    known: dict[frozenset[str], tuple[Departure, float]] = {}
    level = [base]
    for benches in (quick, full):
        benches.whole(judge.settings(base))
    for size in range(limits.together + 1):
        quick.measure(judge.settings(one) for one in level)
        scored = [(one, judge.score(quick, one)) for one in level]
        known.update({frozenset(u.name for u in one.unknowns): (one, s) for one, s in scored})
        if size == limits.together:
            break
        scored.sort(key=lambda pair: pair[1])
        further: dict[frozenset[str], Departure] = {}
        for one, _ in scored[: limits.width]:
            for unknown in unknowns:
                if one.goes_with(unknown):
                    more = Departure(_in_order((*one.unknowns, unknown), unknowns))
                    further.setdefault(frozenset(u.name for u in more.unknowns), more)
        level = list(further.values())
        quick.progress.note(f"{size + 1} together: {len(level):,} benches")
    best = sorted(known.values(), key=lambda pair: pair[1])[: limits.keep]
    full.measure(judge.settings(one) for one in (base, *(one for one, _ in best)))
    nearest = sorted((judge.bench(full, one) for one, _ in best), key=lambda one: one.score)
    return Search(
        None if start is None else start.name,
        limits.hold_out,
        cells,
        len(known),
        repeat,
        judge.bench(full, base),
        tuple(nearest),
        tuple(_shares(unknowns, nearest, list(known.values()))),
    )


def _shared(start: Start, *banks: Benches) -> tuple[PaperMean, ...]:
    """The cells that the kernel's rows have, and the model on the same bench: where the model has
    no such transfer, it cannot say what a departure changes.
    """
    there = set(start.kernel)
    for benches in banks:
        there &= set(means(benches.whole(start.settings).cells, {}))
    if not there:
        raise UserError(
            f"{start.name}: the model has no transfer for any cell of the kernel's rows",
            "look at the bench without a search",
        )
    return tuple(cell for cell in CELLS if cell in there)


@dataclass(frozen=True)
class _Judge:
    """How near a bench is to the paper, from where the search starts."""

    cells: Sequence[PaperMean]
    start: Start | None
    hold_out: str | None = None

    def settings(self, departure: Departure) -> Settings:
        own = () if self.start is None else self.start.settings
        return (*own, *departure.settings)

    def means(self, benches: Benches, departure: Departure) -> dict[PaperMean, float]:
        measured = benches.measured[self.settings(departure)]
        there = means(measured.cells, departure.read)
        if self.start is None:
            return there
        model = means(benches.measured[self.start.settings].cells, {})
        return {
            cell: self.start.kernel[cell] + there[cell] - model[cell]
            for cell in self.cells
            if cell in there and cell in model
        }

    def score(self, benches: Benches, departure: Departure) -> float:
        fitted, _ = self.distances(row("", self.means(benches, departure), self.cells))
        return fitted + departure.penalty

    def distances(self, here: BenchRow) -> tuple[float, float | None]:
        """Of the cells that choose, and of those held out."""
        fitted: list[float | None] = []
        others: list[float | None] = []
        for cell, off in zip(self.cells, here.off_paper, strict=True):
            held = self.hold_out in (cell.network, cell.measure)
            (others if held else fitted).append(off)
        return distance(fitted), distance(others) if others else None

    def bench(self, benches: Benches, departure: Departure) -> Bench:
        measured = self.means(benches, departure)
        here = row(departure.name, measured, self.cells)
        fitted, others = self.distances(here)
        return Bench(
            departures=tuple(unknown.name for unknown in departure.unknowns),
            score=fitted + departure.penalty,
            distance=fitted,
            held_out=others,
            penalty=departure.penalty,
            near={measure: here.near(self.cells, measure) for measure in MEASURES},
            off_paper=here.off_paper,
            means_s=tuple(measured.get(cell) for cell in self.cells),
            command=benches.command(self.settings(departure)),
        )


def _in_order(chosen: tuple[Unknown, ...], every: Sequence[Unknown]) -> tuple[Unknown, ...]:
    """As the file has them, so that a combination is measured once."""
    names = {unknown.name for unknown in chosen}
    return tuple(unknown for unknown in every if unknown.name in names)


def _shares(
    unknowns: Sequence[Unknown],
    nearest: Sequence[Bench],
    known: Sequence[tuple[Departure, float]],
) -> list[Share]:
    departures = []
    for unknown in unknowns:
        have = [s for one, s in known if unknown in one.unknowns]
        lack = [s for one, s in known if unknown not in one.unknowns]
        count = sum(unknown.name in bench.departures for bench in nearest)
        best_with = min(have, default=None)
        departures.append(
            Share(unknown.name, unknown.about, count, best_with, min(lack, default=None))
        )
    return sorted(departures, key=lambda one: -one.nearest)
