"""Table 4 of several runs beside the paper's: a line a cell, a column a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rexmit.analysis.axes import Group
from rexmit.analysis.cells import Spread
from rexmit.analysis.runner import Runner, runner
from rexmit.errors import UserError
from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.table4 import MEASURES, Block, Entry, Table4, percent, table4
from rexmit.store.open_run import Run

#: How near to the paper a mean is that counts as the paper's, in percent.
NEAR_PERCENT = {"t_total": 10.0, "t_recover": 5.0}


@dataclass(frozen=True)
class Value:
    """A mean of one run; `against_paper` and `against_baseline` in percent, None where there is
    nothing to set it against.
    """

    spread: Spread
    against_paper: float | None
    against_baseline: float | None


@dataclass(frozen=True)
class Line:
    """One time of one configuration; `values` in the runs' order, None for a run without it."""

    config: str
    paper_s: float | None
    paper_against_baseline: float | None
    values: tuple[Value | None, ...]


@dataclass(frozen=True)
class Section:
    """One time in one network (and group of other settings)."""

    network: str
    title: str
    group: Group
    measure: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Near:
    """How many means of a run are near the paper's, by measure: (near, all)."""

    counts: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class Beside:
    """Runs beside the paper."""

    lost_segments: int
    baseline: str
    runs: tuple[Run, ...]
    runners: tuple[Runner, ...]
    sections: tuple[Section, ...]
    near: tuple[Near, ...]


def beside(
    runs: Sequence[Run], lost_segments: int | None = None, *, keep_inexact: bool = False
) -> Beside:
    """For so many lost segments (default: the first run's, as in Table 4). Raises UserError where a
    run has no transfer with that many, or where their baselines differ.
    """
    first = table4(runs[0], lost_segments, keep_inexact=keep_inexact)
    rest = [table4(run, first.lost_segments, keep_inexact=keep_inexact) for run in runs[1:]]
    tables = [first, *rest]
    for run, table in zip(runs, tables, strict=True):
        if table.baseline != first.baseline:
            raise UserError(
                f"{run.path} has its percentages against {table.baseline}, "
                f"{runs[0].path} against {first.baseline}",
                f"show runs that have configuration {paper.BASELINE}",
            )
    return Beside(
        lost_segments=first.lost_segments,
        baseline=first.baseline,
        runs=tuple(runs),
        runners=tuple(runner(run.meta) for run in runs),
        sections=tuple(_sections(tables)),
        near=tuple(_near(table) for table in tables),
    )


def _sections(tables: Sequence[Table4]) -> list[Section]:
    keys = dict.fromkeys((block.network, block.group) for t in tables for block in t.blocks)
    found = []
    for network, group in keys:
        blocks = [_block(table, network, group) for table in tables]
        there = next(block for block in blocks if block is not None)
        for measure in MEASURES:
            lines = _lines(blocks, measure)
            found.append(Section(network, there.setting.title, group, measure, tuple(lines)))
    return found


def _block(table: Table4, network: str, group: Group) -> Block | None:
    return next(
        (block for block in table.blocks if (block.network, block.group) == (network, group)), None
    )


def _lines(blocks: Sequence[Block | None], measure: str) -> list[Line]:
    every = [_entries(block, measure) if block else {} for block in blocks]
    lines = []
    for config in dict.fromkeys(config for entries in every for config in entries):
        here = [entries.get(config) for entries in every]
        printed = next((entry.paper for entry in here if entry and entry.paper), None)
        lines.append(
            Line(
                config,
                printed.mean_s if printed else None,
                printed.percent if printed else None,
                tuple(_value(entry) for entry in here),
            )
        )
    return lines


def _entries(block: Block, measure: str) -> dict[str, Entry]:
    entries: tuple[Entry, ...] = getattr(block, measure)
    return {entry.config: entry for entry in entries}


def _value(entry: Entry | None) -> Value | None:
    if entry is None or entry.spread.mean_s is None:
        return None
    theirs = entry.paper.mean_s if entry.paper else None
    return Value(entry.spread, percent(entry.spread.mean_s, theirs), entry.percent)


def _near(table: Table4) -> Near:
    counts = {}
    for measure in MEASURES:
        apart = [
            entry.paper.difference_percent
            for block in table.blocks
            for entry in _entries(block, measure).values()
            if entry.paper and entry.paper.difference_percent is not None
        ]
        counts[measure] = (sum(abs(p) <= NEAR_PERCENT[measure] for p in apart), len(apart))
    return Near(counts)
