"""Table 4 of the paper from a run: its means beside ours, and the times to the paper's letter."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from rexmit.analysis.cells import Cell
from rexmit.analysis.times import MEASURES, Block, Times, block_data, percent, times
from rexmit.analysis.times import Entry as Ours
from rexmit.statistics.spread import NOTHING, Spread, spread_data
from rexmit.store.open_run import Run
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import printed_s


@dataclass(frozen=True)
class Printed:
    """The paper's mean, in seconds, its percent against its own `er`, and ours minus it."""

    mean_s: float
    percent: float | None
    difference_s: float | None
    difference_percent: float | None


@dataclass(frozen=True)
class Entry(Ours):
    """One time of one configuration.

    `to_the_letter` is the time as the paper's text defines it: t_total until the FIN is sent again,
    t_recover until the first dropped segment is, where ours wait for all that was dropped, and for
    any of it. A probe, which is the last segment and may have the FIN, tells them apart.
    """

    to_the_letter: Spread
    paper: Printed | None


def table4(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> Times:
    """For so many lost segments (default: the paper's five, or the most that the run has), with the
    paper's baseline where the run has it. Raises UserError when the run has no transfer with that
    many.
    """
    lost = losses_of(run) if lost_segments is None else lost_segments
    table = times(run, lost, baseline=baseline_of(run), keep_inexact=keep_inexact)
    return replace(table, blocks=tuple(map(_beside_paper, table.blocks)))


def losses_of(run: Run) -> int:
    """The paper's number of lost segments, or the largest of a run that does not have it."""
    there = set(run.transfers["lost_segments"].unique())
    return paper.TABLE_4_LOSSES if paper.TABLE_4_LOSSES in there else int(max(there))


def baseline_of(run: Run) -> str | None:
    """The paper's, where the run has it."""
    return paper.BASELINE if paper.BASELINE in set(run.transfers["config"]) else None


def entries(block: Block, measure: str) -> dict[str, Entry]:
    """Those of one time of a block that `table4` made, by configuration."""
    every = block.entries(measure).items()
    return {config: entry for config, entry in every if isinstance(entry, Entry)}


def _beside_paper(block: Block) -> Block:
    def those(measure: str) -> tuple[Entry, ...]:
        return tuple(_entry(block, measure, entry) for entry in block.entries(measure).values())

    return replace(block, t_total=those("t_total"), t_recover=those("t_recover"))


def _entry(block: Block, measure: str, ours: Ours) -> Entry:
    cell = block.cells.get(ours.config)
    letter: Spread = getattr(cell, f"{measure}_printed") if cell else NOTHING
    printed = _printed(block, measure, cell, ours.spread.mean_s) if cell else None
    return Entry(ours.config, ours.spread, ours.gain, letter, printed)


def _printed(block: Block, measure: str, cell: Cell, mean_s: float | None) -> Printed | None:
    theirs = printed_s(cell, block.setting, measure)
    if theirs is None:
        return None
    reference = paper.TABLE_4.get((cell.network, paper.BASELINE))
    base: float | None = getattr(reference, f"{measure}_s") if reference else None
    return Printed(
        mean_s=theirs,
        percent=None if cell.config == paper.BASELINE else percent(theirs, base),
        difference_s=None if mean_s is None else mean_s - theirs,
        difference_percent=percent(mean_s, theirs),
    )


def table4_data(table: Times) -> dict[str, Any]:
    """Times in seconds, percentages in percent, null where there is none."""
    return {
        "lost_segments": table.lost_segments[0],
        "lost_segments_in_run": list(table.losses_in_run),
        "baseline": table.baseline,
        "paper": paper.SOURCE,
        "networks": [_block(block) for block in table.blocks],
    }


def _block(block: Block) -> dict[str, Any]:
    data = block_data(block)
    for measure in MEASURES:
        by_config = entries(block, measure)
        for one in data["configs"]:
            entry = by_config[one["config"]]
            one[measure] |= {
                "to_the_letter": spread_data(entry.to_the_letter),
                "paper": asdict(entry.paper) if entry.paper else None,
            }
    return data
