"""Which figures a run has: their names, titles and points, before anything is drawn."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rexmit.figures.series import Measure, Series, series
from rexmit.tables import paper
from rexmit.tables.axes import Group, groups, with_axes
from rexmit.tables.cells import Cell, summarise
from rexmit.tables.run_folder import Run
from rexmit.tables.setting import Setting, setting_of

MEASURES: tuple[Measure, ...] = ("t_recover", "t_total")


@dataclass(frozen=True)
class PaperMark:
    """A mean that the paper prints, to be marked in the figure."""

    config: str
    lost_segments: int
    mean_s: float


@dataclass(frozen=True)
class Figure:
    """One figure. `name` is its file's without the ending; `number` the paper's, None for ours."""

    name: str
    number: str | None
    network: str
    measure: Measure
    title: str
    subtitle: str
    losses: tuple[int, ...]  #: the lost segments of the whole run: its figures share their axis
    series: tuple[Series, ...]
    paper: tuple[PaperMark, ...]


def plan(run: Run, *, keep_inexact: bool = False) -> list[Figure]:
    """The figures of a run: the paper's first, then the others, in the order of the grid."""
    frame = with_axes(run.transfers)
    every_group = groups(frame)
    configs = tuple(run.transfers["config"].unique(maintain_order=True))
    cells = summarise(frame, every_group, keep_inexact=keep_inexact)
    figures = []
    for network in run.transfers["network"].unique(maintain_order=True):
        setting = setting_of(run.scenario, network)
        for group in every_group:
            mine = [cell for cell in cells if cell.network == network and cell.group == group]
            for measure in MEASURES:
                lines = series(mine, measure, configs)
                if lines:
                    figures.append(_figure(run, network, setting, group, measure, lines, mine))
    return sorted(figures, key=lambda figure: (figure.number is None, figure.number or ""))


def _figure(
    run: Run,
    network: str,
    setting: Setting,
    group: Group,
    measure: Measure,
    lines: tuple[Series, ...],
    cells: list[Cell],
) -> Figure:
    number = paper_number(network, measure) if setting.as_in_paper else None
    name = f"figure-{number}" if number else f"{measure.replace('_', '-')}-{slug(network)}"
    if group.slug:
        name += f"-{slug(group.slug)}"
    title = "; ".join(part for part in (setting.title, group.words) if part)
    return Figure(
        name=name,
        number=number,
        network=network,
        measure=measure,
        title=f"{network}: {title}" if title else network,
        subtitle=_subtitle(run, lines),
        losses=tuple(sorted(run.transfers["lost_segments"].unique())),
        series=lines,
        paper=_paper_marks(setting, measure, cells),
    )


def paper_number(network: str, measure: Measure) -> str | None:
    """`4` for t_recover of the high-speed network, `5a` to `5c` for t_total, else None."""
    theirs = paper.NETWORKS.get(network)
    if theirs is None:
        return None
    if measure == "t_total":
        return f"5{theirs.letter}"
    return "4" if network == "high-speed" else None


def slug(text: str) -> str:
    """Letters, digits, points and hyphens only."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "network"


def _subtitle(run: Run, lines: tuple[Series, ...]) -> str:
    kernel = run.meta.get("kernel")
    parts = []
    if isinstance(kernel, dict) and kernel.get("version"):
        hz = f", HZ {kernel['hz']}" if kernel.get("hz") else ""
        parts.append(f"Linux {kernel['version']}{hz}")
    sizes = [point.n for line in lines for point in line.points]
    low, high = min(sizes), max(sizes)
    parts.append(f"mean and standard deviation of {low if low == high else f'{low} to {high}'}")
    return "; ".join(parts) + (" transfer" if high == 1 else " transfers")


def _paper_marks(setting: Setting, measure: Measure, cells: list[Cell]) -> tuple[PaperMark, ...]:
    if not setting.as_in_paper:
        return ()
    marks = []
    for cell in cells:
        printed = paper.table_4(cell.network, cell.config)
        if printed and cell.as_in_paper and cell.lost_segments == paper.TABLE_4_LOSSES:
            mean: float = getattr(printed, f"{measure}_s")
            marks.append(PaperMark(cell.config, cell.lost_segments, mean))
    return tuple(marks)
