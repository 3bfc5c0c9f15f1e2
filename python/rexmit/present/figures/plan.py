"""Which figures there are of charts: their names, titles, panels and points, before anything is
drawn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from itertools import count as count_up

from rexmit.analysis.axes import AxisGroup, Value
from rexmit.analysis.chart import Chart, Point
from rexmit.analysis.network import setting_of
from rexmit.analysis.overview import overview
from rexmit.analysis.runner import runner
from rexmit.present.figures.xaxis import XAxis, axis
from rexmit.statistics.interval import Interval
from rexmit.store.schema import TRANSFERS, Column
from rexmit.wording import count

#: So many panels stand beside each other where nothing else stands below them.
_BESIDE = 3

#: Panels of a row whose highest points are closer than this share a scale.
_ALIKE = 4

#: Below so many seconds an axis is in a smaller unit.
_SMALL_S = 0.1


@dataclass(frozen=True)
class Mark:
    """A mean from elsewhere (in the column's own unit), to be marked in the figure."""

    label: str
    at: float
    mean: float


@dataclass(frozen=True)
class PlottedPoint:
    """A point's place along the axis, its mean and that's interval (None: not known)."""

    at: float
    mean: float
    interval: Interval | None
    n: int

    @property
    def top(self) -> float:
        """The highest that is drawn of it."""
        return self.mean if self.interval is None else self.interval.high


@dataclass(frozen=True)
class Series:
    """One value of the axis by colour, its points from left to right."""

    label: str
    points: tuple[PlottedPoint, ...]


@dataclass(frozen=True)
class Panel:
    """What is drawn in one pair of axes: points of one column. `at` has the value of every axis
    that all of them share. What is drawn is `factor` times what they have, in `unit`.
    """

    title: str
    column: Column
    factor: float
    unit: str
    at: Mapping[str, Value]
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()

    @property
    def top(self) -> float:
        """The highest end of a bar, or mark, as drawn; 0 where there is none."""
        ends = [point.top for one in self.series for point in one.points]
        return self.factor * max([*ends, *(mark.mean for mark in self.marks)], default=0.0)

    @property
    def y(self) -> str:
        """What the axis says: the column as the schema defines it."""
        return f"{self.column.name}: {self.column.meaning}" + (f" ({self.unit})" * bool(self.unit))


@dataclass(frozen=True)
class Figure:
    """One figure: rows of panels with one axis. `name` is its file's without the ending. `labels`
    are those of all series, `legend` what they are values of; `marks_label` is what the marks are
    called there.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    x: XAxis
    rows: tuple[tuple[Panel, ...], ...]
    labels: tuple[str, ...]
    marks_label: str = ""

    @property
    def shares_y(self) -> bool:
        """Whether panels of a row are of one size: else small ones would show nothing."""
        tops = [[panel.top for panel in row if panel.top] for row in self.rows]
        return all(max(row) < _ALIKE * min(row) for row in tops if row)

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All of them."""
        return tuple(chain.from_iterable(self.rows))


def plan(charts: Sequence[Chart]) -> list[Figure]:
    """A figure for each chart."""
    return named_apart(_figure(chart, _apart(chart, charts)) for chart in charts)


def named_apart(figures: Iterable[Figure]) -> list[Figure]:
    """Networks like "m x" and "m-x" would give two figures one file: the later is numbered."""
    names: set[str] = set()
    apart = []
    for figure in figures:
        numbered = (f"{figure.name}-{i}" for i in count_up(2))
        name = next(name for name in chain([figure.name], numbered) if name not in names)
        names.add(name)
        apart.append(replace(figure, name=name))
    return apart


def slug(text: str) -> str:
    """Letters, digits, points and hyphens only."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "network"


def _apart(chart: Chart, charts: Sequence[Chart]) -> AxisGroup:
    """What sets a chart apart from the others, and from those of other cells."""
    alike = {
        name
        for name in chart.held
        if name not in chart.chosen and len({other.held[name] for other in charts}) == 1
    }
    return AxisGroup(tuple(pair for pair in chart.held.items() if pair[0] not in alike))


def _figure(chart: Chart, apart: AxisGroup) -> Figure:
    x = axis(chart.x, (point.at[chart.x] for point in chart.points), chart.words)
    rows = tuple(_rows(chart, x))
    labels = dict.fromkeys(one.label for row in rows for panel in row for one in panel.series)
    order = [""]
    if chart.colour is not None:
        order = [chart.words(chart.colour, value) for value in chart.values[chart.colour]]
    columns = "-".join(one.name.removesuffix("_s") for one in chart.columns)
    parts = [columns, "by", chart.x.removesuffix("_bytes"), apart.slug]
    return Figure(
        name="-".join(slug(part) for part in parts if part),
        title=_title(chart),
        notes=tuple(_notes(chart, list(labels))),
        x=x,
        rows=rows,
        labels=tuple(label for label in order if label in labels),
    )


def _rows(chart: Chart, x: XAxis) -> Iterator[tuple[Panel, ...]]:
    """Columns of a table one below the other, or the values of the second facet; else the panels of
    the first facet in several rows where there are many.
    """
    right = chart.values[chart.facet[0]] if chart.facet else (None,)
    down = chart.values[chart.facet[1]] if len(chart.facet) > 1 else (None,)
    for column in chart.columns:
        of_column = [point for point in chart.points if point.column == column.name]
        factor, unit = _unit(column, of_column)
        for below in down:
            row = []
            for value in right:
                at = dict(zip(chart.facet, (value, below), strict=False))
                mine = [point for point in of_column if at.items() <= point.at.items()]
                series = tuple(_series(chart, x, mine))
                title = _panel_title(chart, at)
                row.append(Panel(title, column, factor, unit, {**chart.held, **at}, series))
            if len(chart.columns) == len(down) == 1:
                row = [panel for panel in row if panel.series]
                for first in range(0, len(row), _in_rows(len(row))):
                    yield tuple(row[first : first + _in_rows(len(row))])
            else:
                yield tuple(row)


def _in_rows(panels: int) -> int:
    """How many panels stand in each row: rows of about the same length."""
    rows = -(-panels // _BESIDE)
    return -(-panels // rows) if rows else 1


def _series(chart: Chart, x: XAxis, points: Sequence[Point]) -> Iterator[Series]:
    for value in chart.values[chart.colour] if chart.colour else (None,):
        mine = [
            PlottedPoint(x.places[point.at[chart.x]], point.mean, point.interval, point.n)
            for point in points
            if chart.colour is None or point.at[chart.colour] == value
        ]
        if mine:
            label = "" if chart.colour is None else chart.words(chart.colour, value)
            yield Series(label, tuple(sorted(mine, key=lambda place: place.at)))


def _unit(column: Column, points: Sequence[Point]) -> tuple[float, str]:
    """What numbers are multiplied by, and what they are in then."""
    if column.kind == "boolean":
        return 100, "% of transfers"
    ends = (point.mean if point.interval is None else point.interval.high for point in points)
    most = max(ends, default=0.0)
    if column.unit != "s" or not 0 < most < _SMALL_S:
        return 1, column.unit or ""
    return (1e3, "ms") if most >= _SMALL_S / 1e3 else (1e6, "µs")


def _panel_title(chart: Chart, at: Mapping[str, Value]) -> str:
    parts = [
        _network(chart, str(value)) if name == "network" else chart.words(name, value)
        for name, value in at.items()
    ]
    return "; ".join(part for part in parts if part)


def _network(chart: Chart, name: str) -> str:
    """Of runs that set it differently only the name."""
    titles = {setting_of(run.scenario, name).title for run in chart.runs}
    title = titles.pop() if len(titles) == 1 else ""
    return f"{name}: {title}" if title else name


def _title(chart: Chart) -> str:
    """The network, where it is one; else what the runs' scenarios are called."""
    placed = {chart.x, chart.colour, *chart.facet}
    networks = {name for run in chart.runs for name in run.transfers["network"].unique()}
    if "network" in chart.held:
        return _network(chart, str(chart.held["network"]))
    if len(networks) == 1 and "network" not in placed:
        return _network(chart, networks.pop())
    views = [overview(run) for run in chart.runs]
    names = dict.fromkeys(view.title or view.scenario or view.path for view in views)
    return "; ".join(names)


def _notes(chart: Chart, labels: list[str]) -> Iterator[str]:
    """What all points share (a colour that is alone has no legend), what they are means of, and
    what the axes' words mean.
    """
    held = [chart.words(name, value) for name, value in chart.held.items() if name != "network"]
    configs = {name for run in chart.runs for name in run.transfers["config"].unique()}
    if len(configs) == 1 and chart.colour is None and "config" not in chart.held:
        held += configs
    held += labels if len(labels) == 1 else []
    if any(held):
        yield ", ".join(filter(None, held))
    yield _provenance(chart)
    yield from _definitions(chart.columns)


def _provenance(chart: Chart) -> str:
    parts = list(dict.fromkeys(ran.words for run in chart.runs if (ran := runner(run.meta)).name))
    sizes = [point.n for point in chart.points]
    low, high = min(sizes), max(sizes)
    of = f"{low} to {high} transfers" if low != high else count(high, "transfer")
    apart = "standard deviation" if chart.ci is None else f"{chart.ci:g} % interval"
    parts.append(f"mean and {apart} of {of}" + (" each" if high > 1 else ""))
    if any(point.interval is None for point in chart.points) and chart.ci is not None:
        parts.append("hollow: of a single repetition, or seed, which tells none")
    left: Counter[str] = Counter()
    for point in {tuple(point.at.items()): point for point in chart.points}.values():
        left.update(point.left_out)
    if left:
        parts.append("left out: " + ", ".join(f"{n:,} {why}" for why, n in left.items()))
    return "; ".join(parts)


def _definitions(columns: Sequence[Column]) -> Iterator[str]:
    """Of the columns that the definitions of others name (`t_end - t_start`)."""
    named = {
        word: column.meaning
        for one in columns
        for word in re.findall(r"t_\w+", one.meaning)
        for column in TRANSFERS
        if column.name == f"{word}_s"
    }
    if named:
        yield "; ".join(f"{word}: {meaning}" for word, meaning in named.items())
