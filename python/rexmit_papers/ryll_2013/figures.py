"""Figures 4 and 5 of Ryll 2013 of a run, with the means of Table 4 marked in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rexmit.analysis.axes import PAGE, AxisGroup, Value, groups, with_axes
from rexmit.analysis.cells import Cell, summarise
from rexmit.analysis.chart import Chart, Question, charts
from rexmit.analysis.losses import check_losses
from rexmit.analysis.network import Setting, setting_of
from rexmit.errors import UserError, argument
from rexmit.present.figures.plan import Figure, Mark, named_apart, slug
from rexmit.present.figures.plan import plan as plan_charts
from rexmit.present.figures.xaxis import LOSSES
from rexmit.store.open_run import Run
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import is_papers_network, printed_s

LABEL = "paper, 2013"

_TIMES: Final = ("t_recover", "t_total")


@dataclass(frozen=True)
class _Grid:
    """What a run varies, and what of it is drawn."""

    run: Run
    groups: Sequence[AxisGroup]
    cells: Sequence[Cell]
    losses: tuple[int, ...]
    keep_inexact: bool

    @property
    def axes(self) -> tuple[str, ...]:
        """What times stand against: lost segments, or each setting that varies where one number of
        them is lost."""
        if len(self.losses) > 1 or len(self.groups) == 1:
            return (LOSSES,)
        return tuple(name for name, _ in self.groups[0].values)


def plan(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> list[Figure]:
    """The figures of a run, one for each network and time: those of the paper first, then the
    others, with the paper's marks. Times stand against lost segments; where a single number is
    lost, or chosen, and other settings vary, against each of those. Raises UserError for a number
    that the run does not have, or one chosen in a run that varies nothing else.
    """
    grid = _grid(run, lost_segments, keep_inexact=keep_inexact)
    numbered: list[tuple[str, Figure]] = []
    others: list[Figure] = []
    for network in run.transfers["network"].unique(maintain_order=True):
        setting = setting_of(run.scenario, network)
        for x in grid.axes:
            for time, figure, name in _of_axis(grid, network, x):
                marked = _marked(figure, grid.cells, setting, time)
                number = _number(network, setting, time) if x == LOSSES else None
                stem = f"figure-{number}" if number else f"{slug(time)}-{slug(network)}"
                named = replace(marked, name="-".join(filter(None, (stem, name))))
                if number is None:
                    others.append(named)
                else:
                    numbered.append((number, named))
    first = [figure for _, figure in sorted(numbered, key=lambda one: one[0])]
    return named_apart([*first, *others])


def number_of(figure: Figure) -> str | None:
    """Which of the paper's a planned figure is: `4`, `5a`; None for any other."""
    match = re.match("figure-(4|5[a-c])", figure.name)
    return None if match is None else match[1]


def _grid(run: Run, lost_segments: int | None, *, keep_inexact: bool) -> _Grid:
    losses = tuple(sorted(int(n) for n in run.transfers["lost_segments"].unique()))
    frame = with_axes(run.transfers)
    every_group = groups(frame)
    if lost_segments is not None:
        check_losses(lost_segments, losses)
        if len(every_group) == 1:
            raise UserError(
                f"{argument('losses')} chooses what is drawn against another setting: the run "
                "varies none",
                "leave it out",
                usage=True,
            )
        losses = (lost_segments,)
    cells = summarise(run, frame, every_group, keep_inexact=keep_inexact)
    return _Grid(run, every_group, cells, losses, keep_inexact)


def _of_axis(grid: _Grid, network: str, x: str) -> Iterator[tuple[str, Figure, str]]:
    """Each time's figures along an axis, and what sets their names apart."""
    by_time = {
        time: charts(
            [grid.run],
            Question(
                x=x,
                y=f"{time}_s",
                colour="config",
                facet=(),
                ci=None,
                cells={"network": [network], "lost": list(grid.losses)},
                inexact=grid.keep_inexact,
            ),
        )
        for time in _TIMES
    }
    for place in range(max(map(len, by_time.values()))):
        for time, those in by_time.items():
            if place < len(those):
                (figure,) = plan_charts(those[place : place + 1])
                yield time, figure, _apart(grid, those[place], x)


def _apart(grid: _Grid, chart: Chart, x: str) -> str:
    """`by-page-segments-bbr`."""
    if x == LOSSES:
        group = next((one for one in grid.groups if _is_of(chart.held, one)), AxisGroup())
        return slug(group.slug) if group.slug else ""
    hidden = PAGE if x in PAGE else (x,)
    held = AxisGroup(tuple(pair for pair in chart.held.items() if pair[0] in _names(grid, hidden)))
    base = any(group.is_base for group in grid.groups)
    apart = held.slug if not base else ""
    return "-".join(slug(part) for part in (f"by-{x.removesuffix('_bytes')}", apart) if part)


def _names(grid: _Grid, hidden: Sequence[str]) -> list[str]:
    return [name for name, _ in grid.groups[0].values if name not in hidden]


def _is_of(held: Mapping[str, Value], group: AxisGroup) -> bool:
    return all(held.get(name) == value for name, value in group.values if name in held)


def _marked(figure: Figure, cells: Sequence[Cell], setting: Setting, time: str) -> Figure:
    """With the paper's means of those cells that the figure shows."""
    (panel,) = figure.panels
    marks = tuple(
        Mark(cell.config, figure.x.places[along], mean_s)
        for cell in cells
        if all(_value(cell, name) == value for name, value in panel.at.items())
        and (along := _value(cell, figure.x.name)) in figure.x.places
        and (mean_s := printed_s(cell, setting, time)) is not None
    )
    if not marks:
        return figure
    return replace(figure, rows=((replace(panel, marks=marks),),), marks_label=LABEL)


def _value(cell: Cell, axis: str) -> Value:
    own: dict[str, Value] = {"network": cell.network, "lost_segments": cell.lost_segments}
    return own[axis] if axis in own else cell.group.value(axis)


def _number(network: str, setting: Setting, time: str) -> str | None:
    """`4` for t_recover of the high-speed network, `5a` to `5c` for t_total, else None."""
    if not is_papers_network(network, setting):
        return None
    if time == "t_total":
        return f"5{paper.NETWORKS[network].letter}"
    return "4" if network == "high-speed" else None
