"""What a figure shows of runs: a column's mean, with its interval, for each value of some axes.

Cells that differ in an axis are never averaged: an axis that has no place in a figure makes a chart
for each of its values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexmit.analysis.axes import AXES, PAGE, SWEPT, VARIANT, Value, axis_named, with_axes
from rexmit.analysis.axes import words as words_of
from rexmit.analysis.choice import Cells, chosen, keep
from rexmit.analysis.leave_out import reason, to_be_probed
from rexmit.analysis.runner import column_heads, runner
from rexmit.analysis.units import units_of
from rexmit.errors import UserError, argument, choice
from rexmit.statistics.estimate import Estimate
from rexmit.statistics.interval import Interval
from rexmit.statistics.spread import Spread, spread
from rexmit.store.open_run import Run
from rexmit.store.schema import TRANSFERS, Column
from rexmit.store.short_table import listed
from rexmit.wording import count

RUN: Final = "run"
"""The axis of several runs: their numbers, from 0."""

TIMES: Final = ("t_total_s", "t_recover_s", "client_s")
"""What is drawn where nobody says."""

MOST: Final = 4
"""So many axes a figure shows: along it, by colour, and by panel to the right and downwards."""

_BY_COLOUR: Final = {RUN: 0, "config": 1, "network": 3}
"""What is told apart by colour rather than in panels; other axes stand between."""

_STILL: Final = ("lost_segments", "network", "config")
"""What stands along a figure of runs that vary nothing."""

_UNIT: Final = "unit"
"""The column of what a transfer was drawn with."""

_PANELS: Final = 48
_CHARTS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What figures are to show; None leaves it to what the runs vary. Raises UserError (usage) for
    an axis or a column that there is not.
    """

    x: str | None = None
    """The axis along the figure: a column, or what a scenario calls it (`loss.segments`)."""
    y: str | Sequence[str] | None = None
    """Columns of transfers whose means are drawn, one below the other."""
    colour: str | None = None
    """The axis whose values are told apart by colour and marker."""
    facet: str | Sequence[str] | None = None
    """One axis, or two, whose values have panels of their own: to the right, and downwards."""
    ci: float | None = 95.0
    """Percent of the intervals of means and shares; None draws standard deviations."""
    cells: Cells | None = None
    """Only cells with these values: `{"network": "mobile", "lost": "1..5"}`."""
    inexact: bool = False
    """Whether transfers that lost other segments than those asked for are taken in."""

    def __post_init__(self) -> None:
        y = [self.y] if isinstance(self.y, str) else self.y
        facet = [self.facet] if isinstance(self.facet, str) else self.facet
        set_ = object.__setattr__
        names = None if y is None else tuple(dict.fromkeys(column(name).name for name in y))
        set_(self, "y", names)
        for name in ("x", "colour"):
            if (axis := getattr(self, name)) is not None:
                set_(self, name, _axis(axis, name))
        set_(self, "facet", None if facet is None else tuple(_axis(one, "facet") for one in facet))
        set_(self, "cells", chosen(self.cells))
        if len(self.facet or ()) > MOST - 2:
            raise UserError(
                f"{argument('facet')}: panels stand to the right and downwards",
                "name one axis or two",
                usage=True,
            )
        twice = [axis for axis, n in Counter(self.placed).items() if n > 1]
        if twice:
            raise UserError(
                f"{argument('x')}, {argument('colour')} and {argument('facet')} have the axis "
                f"{twice[0]} twice",
                "name it once",
                usage=True,
            )
        if self.ci is not None and not 0 < self.ci < 100:
            raise UserError(
                argument("ci", self.ci), "give percent between 0 and 100, as in 95", usage=True
            )

    @property
    def placed(self) -> tuple[str, ...]:
        """The axes that were named."""
        return tuple(
            axis for axis in (self.x, self.colour, *(self.facet or ())) if axis is not None
        )

    @property
    def is_plain(self) -> bool:
        """Whether neither an axis, a column nor cells are named."""
        return not (self.placed or self.y or self.cells)


@dataclass(frozen=True, slots=True)
class Point:
    """The mean of one column over `n` transfers of the cells with the values `at`, by axis. Its
    interval (or a standard deviation to both sides) is None where a single transfer tells none.
    """

    column: str
    at: Mapping[str, Value]
    n: int
    mean: float
    interval: Interval | None
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure's points. `held` are the axes without a place and the value that all points have
    there, where the runs vary them or, of those `chosen`, cells were; `values` are those of each
    axis, as the grid has them.
    """

    runs: tuple[Run, ...]
    columns: tuple[Column, ...]
    x: str
    colour: str | None
    facet: tuple[str, ...]
    held: Mapping[str, Value]
    chosen: tuple[str, ...]
    values: Mapping[str, tuple[Value, ...]]
    ci: float | None
    points: tuple[Point, ...]

    def words(self, axis: str, value: Value) -> str:
        """A value as a reader has it."""
        if axis == RUN:
            heads = column_heads([(runner(run.meta), run.path) for run in self.runs])
            return heads[int(value or 0)].replace("\n", " ")
        return words_of(axis, value)


def charts(runs: Sequence[Run], question: Question) -> list[Chart]:
    """A chart for each combination of the values of axes that have no place in it; those in which
    the axis along the figure has a single value only where all are such. Raises UserError (usage)
    where nothing says what stands along the figure and the runs vary more than it can show.
    """
    frame = _rows(runs, question)
    x, colour, facet, rest = _roles(frame, question)
    for axis in (x, colour, *facet):
        if axis in PAGE and not frame[axis].count():
            (other,) = (name for name in PAGE if name != axis)
            raise UserError(f"no page is given in {axis}", f"there is {other}", usage=True)
    columns = _columns(frame, question)
    # Panels of rows and panels of columns leave no room for several quantities.
    several = [columns] if len(facet) < MOST - 2 else [(one,) for one in columns]
    parts = frame.partition_by(rest, maintain_order=True) if rest else [frame]
    lengths = [part[x].n_unique() for part in parts]
    drawn = []
    for part, n in zip(parts, lengths, strict=True):
        if n == 1 and max(lengths) > 1:
            continue
        placed = [axis for axis in (x, colour, *facet) if axis is not None]
        still = [axis for axis in question.cells or () if part[axis].n_unique() == 1]
        held = {axis: part[axis][0] for axis in (*still, *rest) if axis not in placed}
        values = {axis: tuple(part[axis].unique(maintain_order=True)) for axis in placed}
        for some in several:
            points = tuple(_points(part, placed, some, question.ci))
            if points:
                drawn.append(
                    Chart(
                        tuple(runs),
                        some,
                        x,
                        colour,
                        facet,
                        held,
                        tuple(still),
                        values,
                        question.ci,
                        points,
                    )
                )
    return drawn


def along(run: Run) -> str | None:
    """What stands along the figures of a run that varies more than one shows; None where one shows
    all.
    """
    frame = with_axes(run.transfers).with_columns(pl.lit(0).alias(RUN))
    varies = _varying(frame, ())
    return _along(frame, varies) if len(varies) > MOST else None


def column(name: str) -> Column:
    """A column of transfers with numbers, or true and false; `t_total` is `t_total_s`. Raises
    UserError (usage).
    """
    known = {one.name: one for one in TRANSFERS if one.kind != "text"}
    there = next((known[n] for n in (name, f"{name}_s", f"{name}_bytes") if n in known), None)
    if there is not None:
        return there
    if name in {one.name for one in TRANSFERS}:
        what = f"{argument('y')} {name}: the column is of words, and has no mean"
    else:
        what = f"{argument('y')} {name}: transfers have no such column"
    raise UserError(what, choice(name, known, "columns"), usage=True)


def points_data(drawn: Iterable[Chart]) -> list[dict[str, Any]]:
    """A row a point: every axis that has a value, the column, n, mean and interval; null where
    there is none.
    """
    return [
        {
            **{axis: value for axis, value in chart.held.items() if axis != VARIANT},
            **point.at,
            **({RUN: str(chart.runs[int(point.at[RUN] or 0)].path)} if RUN in point.at else {}),
            "column": point.column,
            "n": point.n,
            "mean": point.mean,
            "low": None if point.interval is None else point.interval.low,
            "high": None if point.interval is None else point.interval.high,
            "left_out": dict(point.left_out),
        }
        for chart in drawn
        for point in chart.points
    ]


def _axis(name: str, of: str) -> str:
    return axis_named(name, f"{argument(of)} {name}", (RUN, *AXES))


def _rows(runs: Sequence[Run], question: Question) -> pl.DataFrame:
    frame = pl.concat(
        with_axes(run.transfers).with_columns(
            pl.lit(number, pl.Int64).alias(RUN),
            reason(to_be_probed(run.scenario), keep_inexact=question.inexact),
            units_of(run).column(run.transfers).alias(_UNIT),
        )
        for number, run in enumerate(runs)
    )
    assert isinstance(question.cells, Mapping)  # noqa: S101 - as __post_init__ leaves it
    kept = keep(frame, question.cells)
    if kept.is_empty():
        raise UserError(
            f"{argument('cells')}: no cell has these values",
            [_values(frame, axis) for axis in question.cells],
            usage=True,
        )
    return kept


def _columns(frame: pl.DataFrame, question: Question) -> tuple[Column, ...]:
    """Those asked for, else the times that there are."""
    if question.y is not None:
        return tuple(column(name) for name in question.y)
    used = frame.filter(pl.col("left_out").is_null())
    return tuple(column(name) for name in TIMES if used[name].count())


_Roles = tuple[str, str | None, tuple[str, ...], tuple[str, ...]]


def _roles(frame: pl.DataFrame, question: Question) -> _Roles:
    """What stands along the figure, by colour, in panels, and what in charts of its own."""
    left = _varying(frame, question.placed)
    if question.x is None and len(left) + len(question.placed) > MOST:
        raise UserError(
            f"the grid has {len(left) + len(question.placed)} axes, and a figure shows {MOST}",
            [
                f"say which stands along it, with {argument('x')}: what has no place then has a",
                f"figure for each value, and {argument('cells')} chooses values",
                *(_values(frame, axis) for axis in (*question.placed, *left)),
            ],
            usage=True,
        )
    still = [axis for axis in _STILL if axis not in question.placed]
    x = question.x or _along(frame, left) or _along(frame, still) or RUN
    # What comes with a value along the figure (a network with its line's loss) is told by it.
    left = _varying(frame, (*question.placed, x), left)
    left.sort(key=lambda axis: (_BY_COLOUR.get(axis, 2), frame[axis].n_unique()))
    apart = [axis for axis in left if question.x is not None and _departs(frame, axis, x)]
    free = [axis for axis in left if axis not in apart]
    colour, facet = question.colour, question.facet
    if colour is None and free:
        colour = free.pop(0)
    if facet is None:
        free.sort(key=lambda axis: axis != "network")
        facet, free = tuple(free[: MOST - 2]), free[MOST - 2 :]
    return x, colour, tuple(facet), (*free, *apart)


def _departs(frame: pl.DataFrame, axis: str, x: str) -> bool:
    """Whether some values of an axis stand at one place along the figure: departures from a grid
    rather than a part of it.
    """
    places = frame.group_by(axis).agg(pl.col(x).n_unique())[x]
    return places.min() == 1 != places.max()


def _along(frame: pl.DataFrame, axes: Sequence[str]) -> str | None:
    """Lost segments, else the numbers of which there are most, else the words."""
    if "lost_segments" in axes:
        return "lost_segments"
    return max(
        (axis for axis in axes if axis != RUN),
        key=lambda axis: (
            frame.schema[axis].is_numeric() and axis != VARIANT,
            frame[axis].drop_nulls().n_unique(),
        ),
        default=RUN if RUN in axes else None,
    )


def _varying(
    frame: pl.DataFrame, placed: Sequence[str], among: Sequence[str] | None = None
) -> list[str]:
    """The axes that have several values in cells alike in what is placed. A value that comes with
    the network is part of what the network's name means.
    """
    names = [RUN, *AXES] if among is None else among
    varying = []
    for axis in names:
        if axis in placed:
            continue
        alike = dict.fromkeys(placed)
        if axis in (*SWEPT, VARIANT):
            alike |= dict.fromkeys((RUN, "network", "config"))
        alike.pop(axis, None)
        # A page is given in segments or in bytes.
        if axis in PAGE and any(one in alike for one in PAGE):
            continue
        several = (
            frame.group_by(list(alike)).agg(pl.col(axis).n_unique())[axis].max()
            if alike
            else frame[axis].n_unique()
        )
        if int(str(several)) > 1:
            varying.append(axis)
    return varying


def _points(
    frame: pl.DataFrame, placed: Sequence[str], columns: Sequence[Column], ci: float | None
) -> Iterator[Point]:
    # Along a page's segments there is no place for one that is given in bytes.
    rows = frame.drop_nulls([axis for axis in placed if axis in PAGE])
    for part in rows.partition_by(placed, maintain_order=True):
        at = {axis: part[axis][0] for axis in placed}
        used = part.filter(pl.col("left_out").is_null())
        left_out = dict(
            part.drop_nulls("left_out").group_by("left_out").len().sort("left_out").rows()
        )
        for one in columns:
            values = spread(used[one.name].cast(pl.Float64), used[_UNIT])
            if values.estimate is not None:
                interval = _interval(one, values, values.estimate, ci)
                yield Point(one.name, at, values.n, values.estimate.value, interval, left_out)


def _interval(of: Column, values: Spread, mean: Estimate, ci: float | None) -> Interval | None:
    """Of a point, which is of one run and network: its units are of one source."""
    if ci is None:
        sd = values.sd_s
        return None if sd is None else Interval(mean.value - sd, mean.value + sd)
    if of.kind == "boolean":
        share = values.share(0.0, ci / 100)
        return None if share is None else share[1]
    return mean.interval_at(ci / 100)


def _values(frame: pl.DataFrame, axis: str) -> str:
    """`config: er, tlp`, `lost_segments: 0..20`."""
    return f"{axis}: {listed(frame[axis].unique(maintain_order=True))}"


def check_size(drawn: Sequence[Chart]) -> None:
    """Raises UserError (usage) for more than anybody looks at."""
    remedy = f"choose some with {argument('cells')} AXIS=VALUES"
    if len(drawn) > _CHARTS:
        raise UserError(
            f"{count(len(drawn), 'figure')}, one for each value of {', '.join(drawn[0].held)}",
            remedy,
            usage=True,
        )
    for chart in drawn:
        panels = len(chart.columns)
        for axis in chart.facet:
            panels *= len(chart.values[axis])
        if panels > _PANELS:
            raise UserError(
                f"{count(panels, 'panel')} of {', '.join(chart.facet)} are more than a figure has",
                remedy,
                usage=True,
            )
