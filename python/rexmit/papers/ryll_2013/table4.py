"""Table 4 of the paper from a run: mean times, percent against the baseline, beside the paper's."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from rexmit.analysis.axes import Group, groups, with_axes
from rexmit.analysis.cells import Cell, Spread, summarise
from rexmit.analysis.leave_out import to_be_probed
from rexmit.analysis.losses import check_losses
from rexmit.analysis.network import Setting, setting_of
from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.conditions import is_papers_cell, is_papers_network
from rexmit.store.open_run import Run

MEASURES = ("t_total", "t_recover")


@dataclass(frozen=True)
class Beside:
    """The paper's mean, in seconds, its percent against its own `er`, and ours minus it."""

    mean_s: float
    percent: float | None
    difference_s: float | None
    difference_percent: float | None


@dataclass(frozen=True)
class Entry:
    """One time of one configuration; `percent` against the baseline (None for itself).

    `to_the_letter` is the time as the paper's text defines it: t_total until the FIN is sent again,
    t_recover until the first dropped segment is, where ours wait for all that was dropped, and for
    any of it. A probe, which is the last segment and may have the FIN, tells them apart.
    """

    config: str
    spread: Spread
    to_the_letter: Spread
    percent: float | None
    paper: Beside | None


@dataclass(frozen=True)
class Block:
    """One network (and group of other settings): a block of Table 4."""

    network: str
    setting: Setting
    group: Group
    baseline: str
    configs: tuple[str, ...]
    cells: dict[str, Cell]  #: by configuration; one that has no transfer here is not in it
    t_total: tuple[Entry, ...]
    t_recover: tuple[Entry, ...]


@dataclass(frozen=True)
class Table4:
    """All blocks for one number of lost segments."""

    lost_segments: int
    losses_in_run: tuple[int, ...]
    baseline: str
    blocks: tuple[Block, ...]


def percent(value: float | None, reference: float | None) -> float | None:
    """(value - reference) / reference in percent, as in Table 4; None if it has none."""
    if value is None or reference is None or reference == 0:
        return None
    return (value - reference) / reference * 100


def table4(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> Table4:
    """For so many lost segments (default: the paper's five, or the most that the run has). Raises
    UserError when the run has no transfer with that many.
    """
    losses = tuple(sorted(int(n) for n in run.transfers["lost_segments"].unique()))
    wanted = _losses(lost_segments, losses)
    frame = with_axes(run.transfers)
    every_group = groups(frame)
    configs = tuple(run.transfers["config"].unique(maintain_order=True))
    networks = tuple(run.transfers["network"].unique(maintain_order=True))
    baseline = paper.BASELINE if paper.BASELINE in configs else configs[0]
    cells = summarise(
        frame.filter(pl.col("lost_segments") == wanted),
        every_group,
        to_be_probed(run.scenario),
        keep_inexact=keep_inexact,
    )
    blocks = []
    for network in networks:
        setting = setting_of(run.scenario, network)
        for group in every_group:
            mine = {c.config: c for c in cells if c.network == network and c.group == group}
            if mine:
                here = setting.beside(group)
                blocks.append(_block(network, here, group, baseline, configs, mine))
    return Table4(wanted, losses, baseline, tuple(blocks))


def _losses(asked: int | None, there: tuple[int, ...]) -> int:
    """What is asked for; else the paper's number, or the largest of a run that does not have it."""
    if asked is None:
        return paper.TABLE_4_LOSSES if paper.TABLE_4_LOSSES in there else there[-1]
    check_losses(asked, there)
    return asked


def _block(
    network: str,
    setting: Setting,
    group: Group,
    baseline: str,
    configs: tuple[str, ...],
    cells: dict[str, Cell],
) -> Block:
    def entries(measure: str) -> tuple[Entry, ...]:
        return tuple(_entry(measure, config, baseline, setting, cells) for config in configs)

    return Block(
        network, setting, group, baseline, configs, cells, entries("t_total"), entries("t_recover")
    )


def _entry(
    measure: str, config: str, baseline: str, setting: Setting, cells: dict[str, Cell]
) -> Entry:
    nothing = Spread(0, None, None)
    cell = cells.get(config)
    mine: Spread = getattr(cell, measure) if cell else nothing
    base: Spread = getattr(cells[baseline], measure) if baseline in cells else nothing
    against = None if config == baseline else percent(mine.mean_s, base.mean_s)
    comparable = cell is not None and is_papers_network(cell.network, setting)
    beside = _beside(measure, cell, mine) if cell and comparable else None
    letter: Spread = getattr(cell, f"{measure}_printed") if cell else nothing
    return Entry(config, mine, letter, against, beside)


def _beside(measure: str, cell: Cell, mine: Spread) -> Beside | None:
    printed = paper.table_4(cell.network, cell.config)
    if printed is None or cell.lost_segments != paper.TABLE_4_LOSSES or not is_papers_cell(cell):
        return None
    theirs: float = getattr(printed, f"{measure}_s")
    reference = paper.table_4(cell.network, paper.BASELINE)
    base: float | None = getattr(reference, f"{measure}_s") if reference else None
    return Beside(
        mean_s=theirs,
        percent=None if cell.config == paper.BASELINE else percent(theirs, base),
        difference_s=None if mine.mean_s is None else mine.mean_s - theirs,
        difference_percent=percent(mine.mean_s, theirs),
    )
