"""Which figures a run has: their names, titles and points, before anything is drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from itertools import count as count_up

from rexmit.analysis.axes import PAGE, Group, Value, groups, with_axes, words
from rexmit.analysis.cells import Cell, summarise
from rexmit.analysis.losses import check_losses
from rexmit.analysis.network import Setting, setting_of
from rexmit.analysis.runner import runner
from rexmit.errors import UserError, argument
from rexmit.present.figures.series import Measure, Series, series
from rexmit.present.figures.xaxis import LOSSES, XAxis, losses_axis, setting_axis
from rexmit.store.open_run import Run
from rexmit.wording import count

MEASURES: tuple[Measure, ...] = ("t_recover", "t_total")


@dataclass(frozen=True)
class Mark:
    """A mean from elsewhere, to be marked in the figure."""

    config: str
    at: float
    mean_s: float


@dataclass(frozen=True)
class Figure:
    """One figure. `name` is its file's without the ending, which begins with `stem`. `cells` are
    those that its points are of. `marks_label` is what the marks are called in the legend.
    """

    name: str
    stem: str
    network: str
    setting: Setting
    measure: Measure
    title: str
    subtitles: tuple[str, ...]
    x: XAxis  #: of the whole run: its figures share their axis
    series: tuple[Series, ...]
    cells: tuple[Cell, ...]
    marks: tuple[Mark, ...] = ()
    marks_label: str = ""

    def place(self, cell: Cell) -> float:
        """Where the points of one of the cells stand."""
        return _place(self.x, cell)


@dataclass(frozen=True)
class _Picture:
    """What becomes a figure for each time: cells along an axis."""

    x: XAxis
    cells: tuple[Cell, ...]
    group: Group  #: on a swept axis, one of the groups
    context: str  #: what all cells share beside the network
    slug: str


def _place(x: XAxis, cell: Cell) -> float:
    if x.name == LOSSES:
        return x.places[cell.lost_segments]
    return x.places[cell.group.value(x.name)]


def plan(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> list[Figure]:
    """The figures of a run, in the order of the grid.

    Times stand against lost segments. Where a single number of segments is lost (or chosen) and
    other settings vary, they stand against each of those. Raises UserError for a number that the
    run does not have, or one chosen in a run that varies nothing else.
    """
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
    cells = [
        cell
        for cell in summarise(run, frame, every_group, keep_inexact=keep_inexact)
        if cell.lost_segments in losses
    ]
    figures: list[Figure] = []
    for network in run.transfers["network"].unique(maintain_order=True):
        mine = [cell for cell in cells if cell.network == network]
        sweeps = len(losses) == 1 and len(every_group) > 1
        pictures = _sweeps(mine, every_group) if sweeps else _along_losses(mine, losses)
        for picture in pictures:
            figures += _figures(run, network, picture)
    return _named_apart(figures)


def _named_apart(figures: list[Figure]) -> list[Figure]:
    """Networks like "m x" and "m-x" would give two figures one file: the later is numbered."""
    names: set[str] = set()
    apart = []
    for figure in figures:
        numbered = (f"{figure.name}-{i}" for i in count_up(2))
        name = next(name for name in chain([figure.name], numbered) if name not in names)
        names.add(name)
        apart.append(replace(figure, name=name))
    return apart


def _along_losses(cells: list[Cell], losses: tuple[int, ...]) -> Iterator[_Picture]:
    x = losses_axis(losses)
    for group in dict.fromkeys(cell.group for cell in cells):
        mine = tuple(cell for cell in cells if cell.group == group)
        yield _Picture(x, mine, group, group.words, slug(group.slug) if group.slug else "")


def _sweeps(cells: list[Cell], every_group: list[Group]) -> Iterator[_Picture]:
    """An axis after the other, with what else varies held: a picture where two values are left."""
    lost = count(cells[0].lost_segments, "lost segment") if cells else ""
    names = [name for name, _ in every_group[0].values]
    for name in names:
        values = [group.value(name) for group in every_group]
        x = setting_axis(name, [v for v in values if v is not None or name not in PAGE])
        held: dict[tuple[tuple[str, Value], ...], list[Cell]] = {}
        for cell in cells:
            if cell.group.value(name) in x.places:
                held.setdefault(_others(cell.group, name), []).append(cell)
        for others, mine in held.items():
            if len({cell.group.value(name) for cell in mine}) > 1:
                base = any(group.is_base for group in every_group)
                apart = Group(others).slug if not base else ""
                by = f"by-{slug(name.removesuffix('_bytes'))}"
                context = ", ".join(filter(None, (lost, *(words(*pair) for pair in others))))
                yield _Picture(x, tuple(mine), mine[0].group, context, _joined(by, apart))


def _others(group: Group, name: str) -> tuple[tuple[str, Value], ...]:
    hidden = PAGE if name in PAGE else (name,)
    return tuple(pair for pair in group.values if pair[0] not in hidden)


def _joined(*parts: str) -> str:
    return "-".join(slug(part) for part in parts if part)


def _figures(run: Run, network: str, picture: _Picture) -> Iterator[Figure]:
    setting = setting_of(run.scenario, network).beside(picture.group)
    configs = tuple(run.transfers["config"].unique(maintain_order=True))
    title = f"{network}: {setting.title}" if setting.title else network
    for measure in MEASURES:
        lines = series(picture.cells, measure, configs, partial(_place, picture.x))
        if not lines:
            continue
        stem = f"{measure.replace('_', '-')}-{slug(network)}"
        subtitles = (picture.context, _provenance(run, lines, picture.cells))
        yield Figure(
            name="-".join(part for part in (stem, picture.slug) if part),
            stem=stem,
            network=network,
            setting=setting,
            measure=measure,
            title=title,
            subtitles=tuple(text for text in subtitles if text),
            x=picture.x,
            series=lines,
            cells=picture.cells,
        )


def slug(text: str) -> str:
    """Letters, digits, points and hyphens only."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "network"


def _provenance(run: Run, lines: tuple[Series, ...], cells: Iterable[Cell]) -> str:
    ran = runner(run.meta)
    parts = [ran.words] if ran.name else []
    sizes = [point.n for line in lines for point in line.points]
    low, high = min(sizes), max(sizes)
    of = f"{low} to {high} transfers" if low != high else count(high, "transfer")
    parts.append(f"mean and standard deviation of {of}")
    left: Counter[str] = Counter()
    for cell in cells:
        left.update({reason.value: n for reason, n in cell.left_out.items()})
    if left:
        parts.append("left out: " + ", ".join(f"{n:,} {reason}" for reason, n in left.items()))
    return "; ".join(parts)
