"""Mean times of several runs beside each other: a line a cell, a value a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rexmit.analysis.axes import AxisGroup
from rexmit.analysis.runner import Runner, runner
from rexmit.analysis.times import TIMES, Block, Entry, Times, gain_data, times
from rexmit.errors import UserError, argument
from rexmit.statistics.estimate import Estimate, known, relative
from rexmit.statistics.spread import Spread, spread_data
from rexmit.store.open_run import Run

Reference = Callable[[Block, str, str], float | None]
"""The mean (seconds) that those of a block's time and configuration are set against."""


@dataclass(frozen=True)
class Value:
    """A mean of one run; what it is off the reference and the baseline, as shares of these, None
    where there is nothing to set it against.
    """

    spread: Spread
    against_reference: Estimate | None
    against_baseline: Estimate | None


@dataclass(frozen=True)
class ComparedTime:
    """One time of one configuration; `values` in the runs' order, None for a run without it."""

    config: str
    reference_s: float | None
    reference_against_baseline: Estimate | None
    values: tuple[Value | None, ...]


@dataclass(frozen=True)
class Section:
    """One time in one network (and group of other settings)."""

    network: str
    title: str
    group: AxisGroup
    measure: str
    lines: tuple[ComparedTime, ...]


@dataclass(frozen=True)
class Beside:
    """Runs beside each other: all means of transfers with so many lost segments."""

    lost_segments: int
    losses_in_run: tuple[int, ...]
    baseline: str
    runs: tuple[Run, ...]
    runners: tuple[Runner, ...]
    sections: tuple[Section, ...]


def beside(
    runs: Sequence[Run],
    lost_segments: int | None = None,
    *,
    baseline: str | None = None,
    keep_inexact: bool = False,
    reference: Reference | None = None,
) -> Beside:
    """For so many lost segments (default: the most that the first run has). Means are set against
    `reference`, by default the first run. Raises UserError where a run has no transfer with that
    many, or where their baselines differ.
    """
    losses = lost_segments
    if losses is None:
        losses = int(max(runs[0].transfers["lost_segments"]))
    tables = [times(run, losses, baseline=baseline, keep_inexact=keep_inexact) for run in runs]
    first = tables[0]
    for run, table in zip(runs, tables, strict=True):
        if table.baseline != first.baseline:
            raise UserError(
                f"{run.path} has its percentages against {table.baseline}, "
                f"{runs[0].path} against {first.baseline}",
                f"name a configuration that all of them have: {argument('baseline')} CONFIG",
            )
    return Beside(
        lost_segments=losses,
        losses_in_run=first.losses_in_run,
        baseline=first.baseline,
        runs=tuple(runs),
        runners=tuple(runner(run.meta) for run in runs),
        sections=tuple(_sections(tables, reference)),
    )


def _sections(tables: Sequence[Times], reference: Reference | None) -> list[Section]:
    keys = dict.fromkeys((block.network, block.group) for t in tables for block in t.blocks)
    sections = []
    for network, group in keys:
        blocks = [_block(table, network, group) for table in tables]
        there = next(block for block in blocks if block is not None)
        for measure in TIMES:
            lines = _lines(blocks, measure, tables[0].baseline, reference)
            if all(value is None for line in lines for value in line.values):
                continue
            sections.append(Section(network, there.setting.title, group, measure, tuple(lines)))
    return sections


def _block(table: Times, network: str, group: AxisGroup) -> Block | None:
    return next(
        (block for block in table.blocks if (block.network, block.group) == (network, group)), None
    )


def _lines(
    blocks: Sequence[Block | None], measure: str, baseline: str, reference: Reference | None
) -> list[ComparedTime]:
    every: list[Mapping[str, Entry]] = [
        block.entries(measure) if block is not None else {} for block in blocks
    ]

    def against(config: str) -> Estimate | None:
        if reference is None:
            return every[0][config].spread.estimate if config in every[0] else None
        means = (reference(block, measure, config) for block in blocks if block is not None)
        return next((known(mean) for mean in means if mean is not None), None)

    lines = []
    for config in dict.fromkeys(config for entries in every for config in entries):
        theirs = against(config)
        base = None if config == baseline else relative(theirs, against(baseline))
        values = tuple(_value(entries.get(config), theirs) for entries in every)
        lines.append(ComparedTime(config, None if theirs is None else theirs.value, base, values))
    return lines


def _value(entry: Entry | None, theirs: Estimate | None) -> Value | None:
    if entry is None or entry.spread.mean_s is None:
        return None
    return Value(entry.spread, relative(entry.spread.estimate, theirs), entry.gain)


def beside_data(table: Beside) -> dict[str, Any]:
    """`values` in the order of `runs`, null for a run without the cell."""
    return {
        "lost_segments": table.lost_segments,
        "baseline": table.baseline,
        "runs": [
            {"path": str(run.path), "runs_on": ran.words}
            for run, ran in zip(table.runs, table.runners, strict=True)
        ],
        "cells": [
            {
                "network": section.network,
                "group": dict(section.group.values),
                "measure": section.measure,
                **_line(line),
            }
            for section in table.sections
            for line in section.lines
        ],
    }


def _line(line: ComparedTime) -> dict[str, Any]:
    return {
        "config": line.config,
        "reference_s": line.reference_s,
        "reference_against_baseline": gain_data(line.reference_against_baseline),
        "values": [
            value
            and {
                "spread": spread_data(value.spread),
                "against_reference": gain_data(value.against_reference),
                "against_baseline": gain_data(value.against_baseline),
            }
            for value in line.values
        ],
    }
