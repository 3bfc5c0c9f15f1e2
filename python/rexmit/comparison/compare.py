"""Two whole runs, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from rexmit.analysis.bursts import bursts_of
from rexmit.analysis.leave_out import reason
from rexmit.analysis.runner import Runner, runner, tick_ns
from rexmit.analysis.units import Units, units_of
from rexmit.comparison.measures import (
    BURST,
    COUNTS,
    Difference,
    Firsts,
    Side,
    difference,
    firsts,
    same_phases,
)
from rexmit.comparison.pairs import Matched, Pair, Selection, match
from rexmit.store.open_run import Run

#: What is compared where nobody says.
USUAL = ("t_total", "t_recover", "client")


@dataclass(frozen=True)
class CellDiff:
    """A pair of cells: what is compared, always the counts as well. `transfers` and `left_out` are
    A's and B's; a transfer is left out that is incomplete, stalled or inexact.
    """

    pair: Pair
    paired: bool  #: repetition by repetition, of several seeds seed by seed
    transfers: tuple[int, int]
    left_out: tuple[int, int]
    measures: tuple[Difference, ...]
    counts: tuple[Difference, ...]
    firsts: Firsts

    @property
    def label(self) -> str:
        """As a reader knows the cell."""
        return self.pair.label

    @property
    def differs(self) -> bool:
        """More than chance and timers make, in anything."""
        every = (*self.measures, *self.counts)
        return self.firsts.beyond or any(one.beyond for one in every)

    def difference(self, metric: str) -> Difference:
        """One quantity of those compared."""
        return next(d for d in (*self.measures, *self.counts) if d.metric == metric)


@dataclass(frozen=True)
class Comparison:
    """Run B against run A."""

    a: Run
    b: Run
    runners: tuple[Runner, Runner]
    tick_s: float
    metrics: tuple[str, ...]
    cells: tuple[CellDiff, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    failed: tuple[int, int]  #: cells that failed and have no rows

    @property
    def differing(self) -> tuple[CellDiff, ...]:
        """The cells that differ in anything."""
        return tuple(cell for cell in self.cells if cell.differs)


def compare(
    a: Run,
    b: Run,
    selection: Selection,
    metrics: Sequence[str] = USUAL,
    *,
    keep_inexact: bool = False,
) -> Comparison:
    """Raises UserError when the runs have nothing in common."""
    matched: Matched = match(a, b, selection)
    runners = (runner(a.meta), runner(b.meta))
    tick_s = max(tick_ns(run.meta) for run in (a, b)) / 1e9
    units = (units_of(a), units_of(b))
    with_bursts = (a, b) if BURST in metrics else (None, None)
    return Comparison(
        a=a,
        b=b,
        runners=runners,
        tick_s=tick_s,
        metrics=tuple(metrics),
        cells=tuple(
            _cell(pair, units, with_bursts, metrics, tick_s, keep_inexact) for pair in matched.pairs
        ),
        only_a=matched.only_a,
        only_b=matched.only_b,
        failed=(_failed(a), _failed(b)),
    )


def _cell(
    pair: Pair,
    units: tuple[Units, Units],
    with_bursts: tuple[Run | None, Run | None],
    metrics: Sequence[str],
    tick_s: float,
    keep_inexact: bool,
) -> CellDiff:
    a, b = (
        _side(cell.rows, one, of, keep_inexact)
        for cell, one, of in zip((pair.a, pair.b), units, with_bursts, strict=True)
    )
    paired = same_phases(a.rows, b.rows)

    def compared(names: Sequence[str]) -> tuple[Difference, ...]:
        return tuple(difference(name, a, b, tick_s=tick_s, paired=paired) for name in names)

    return CellDiff(
        pair=pair,
        paired=paired,
        transfers=(pair.a.rows.height, pair.b.rows.height),
        left_out=(pair.a.rows.height - a.rows.height, pair.b.rows.height - b.rows.height),
        measures=compared([name for name in metrics if name not in COUNTS]),
        counts=compared(list(COUNTS)),
        firsts=firsts(a, b, paired=paired),
    )


def _side(rows: pl.DataFrame, units: Units, with_bursts: Run | None, keep_inexact: bool) -> Side:
    counted = _counted(rows, keep_inexact)
    never = rows.filter(~pl.col("complete").fill_null(False))
    bursts = None
    if with_bursts is not None:
        mine, endless = bursts_of(with_bursts, counted, never)
        bursts = Side(mine, units.column(mine), endless)
    return Side(counted, units.column(counted), never.height, bursts)


def _counted(rows: pl.DataFrame, keep_inexact: bool) -> pl.DataFrame:
    """Without what says nothing of the stack. What a configuration leaves out of means stays in:
    that the probe was not chosen is a difference to be seen.
    """
    return rows.filter(reason(keep_inexact=keep_inexact).is_null())


def _failed(run: Run) -> int:
    return len(run.meta.get("failed_cells") or ())
