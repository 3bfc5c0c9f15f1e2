"""Which cells of two runs belong together: those with the same values on every axis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from rexmit.analysis.axes import SWEPT, VARIANT, Value, with_axes, words
from rexmit.errors import UserError, argument, by_caller, closest
from rexmit.scenario.values import MOST_LOST
from rexmit.store.open_run import Run
from rexmit.wording import count

#: The columns that tell cells apart, as a grid is told: outermost first.
AXES = ("network", "config", *SWEPT, VARIANT, "lost_segments")

#: What a user may write for a column.
_ALIASES = {"lost": "lost_segments", "page": "page_segments", "window": "receive_window_bytes"}


@dataclass(frozen=True)
class Point:
    """The values of a cell on every axis, in the order of `AXES`."""

    values: tuple[Value, ...]

    def value(self, axis: str) -> Value:
        """The value on one axis."""
        return self.values[AXES.index(axis)]

    def told(self, axes: Iterable[str]) -> str:
        """For a reader: `mobile, tlp, 5 lost` with the values of `axes` between them."""
        between = [words(axis, self.value(axis)) for axis in axes]
        names = [str(self.value("network")), str(self.value("config"))]
        return ", ".join([*names, *filter(None, between), f"{self.value('lost_segments')} lost"])


@dataclass(frozen=True)
class Cell:
    """A cell of one run: its number there, and its rows."""

    number: int
    point: Point
    rows: pl.DataFrame


@dataclass(frozen=True)
class Pair:
    """A cell of A and the one of B that it is compared with."""

    label: str
    a: Cell
    b: Cell


@dataclass(frozen=True)
class Matched:
    """All pairs, in the order of A's grid, and the labels of cells that have no partner."""

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


class Located(Protocol):
    """What has a value on every axis of a comparison."""

    @property
    def values(self) -> tuple[Value, ...]:
        """In the order of the axes."""

    def value(self, axis: str) -> Value:
        """The value on one axis."""


@dataclass(frozen=True)
class Selection:
    """Which cells to compare: for an axis the values that count, and for an axis the values of A
    that are compared with other ones of B.
    """

    only: Mapping[str, frozenset[str]]
    maps: Mapping[str, Mapping[str, str]]
    axes: tuple[str, ...] = AXES

    def keeps(self, point: Located, *, mapped: bool) -> bool:
        """Whether a cell takes part; `mapped`: it is one of B, where a map's right sides count."""
        for axis, values in self.only.items():
            here = _text(point.value(axis))
            maps = self.maps.get(axis, {})
            names = {maps.get(value, value) for value in values} if mapped else values
            if here not in names:
                return False
        for axis, maps in self.maps.items():
            sides = maps.values() if mapped else maps.keys()
            if _text(point.value(axis)) not in sides:
                return False
        return True

    def partner(self, point: Located) -> tuple[str, ...]:
        """What names the partner of a cell of A in B."""
        texts = []
        for axis, value in zip(self.axes, point.values, strict=True):
            text = _text(value)
            texts.append(self.maps.get(axis, {}).get(text, text))
        return tuple(texts)


def cells(run: Run) -> list[Cell]:
    """The cells of a run, in the order of its grid."""
    parts = with_axes(run.transfers).partition_by("cell", maintain_order=True)
    return [Cell(int(part["cell"][0]), Point(part.select(AXES).row(0)), part) for part in parts]


def match(a: Run, b: Run, selection: Selection) -> Matched:
    """Pairs the cells of two runs. Raises UserError (usage) when no two belong together."""
    in_a = [cell for cell in cells(a) if selection.keeps(cell.point, mapped=False)]
    in_b = [cell for cell in cells(b) if selection.keeps(cell.point, mapped=True)]
    told = _telling(in_a, in_b)
    there = {tuple(map(_text, cell.point.values)): cell for cell in in_b}
    pairs, met = [], set()
    only_a = []
    for cell in in_a:
        key = selection.partner(cell.point)
        if key in there:
            pairs.append(Pair(_label(cell.point, there[key].point, told), cell, there[key]))
            met.add(key)
        else:
            only_a.append(cell.point.told(told))
    only_b = [cell.point.told(told) for key, cell in there.items() if key not in met]
    if not pairs:
        raise UserError(
            f"{a.path} and {b.path} have no cell in common",
            [_described(a, in_a, told), _described(b, in_b, told), _remedy(selection)],
            usage=True,
        )
    return Matched(tuple(pairs), tuple(only_a), tuple(only_b))


def selection(only: Sequence[str], maps: Sequence[str], axes: tuple[str, ...] = AXES) -> Selection:
    """Reads `AXIS=VALUE,VALUE` and `AXIS:A=B` texts. Raises UserError (usage)."""
    chosen: dict[str, frozenset[str]] = {}
    for text in only:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise UserError(
                f"{argument('cells')} {text}: this is no AXIS=VALUE",
                by_caller(
                    called='for example: {"network": "mobile", "lost": "1..5"}',
                    typed="for example: --cell network=mobile --cell lost=1..5",
                ),
                usage=True,
            )
        axis = _axis(name, f"{argument('cells')} {text}", axes)
        chosen[axis] = _values(axis, values, text)
    mapped: dict[str, dict[str, str]] = {}
    for text in maps:
        name, colon, sides = text.partition(":")
        left, equals, right = sides.partition("=")
        if not colon or not equals or not left or not right:
            raise UserError(
                f"{argument('maps')} {text}: this is no AXIS:A=B",
                "for example, A's tlp against B's er: "
                + by_caller(called='{"config": {"tlp": "er"}}', typed="--map config:tlp=er"),
                usage=True,
            )
        mapped.setdefault(_axis(name, f"{argument('maps')} {text}", axes), {})[left] = right
    return Selection(chosen, mapped, axes)


def _axis(name: str, where: str, axes: tuple[str, ...]) -> str:
    name = _ALIASES.get(name, name)
    if name not in axes:
        known = [axis for axis in axes if axis != VARIANT]
        near = closest(name, known)
        guess = f"did you mean {near}? " if near else ""
        raise UserError(
            f"{where}: there is no axis {name}", f"{guess}axes: {', '.join(known)}", usage=True
        )
    return name


def _values(axis: str, text: str, whole: str) -> frozenset[str]:
    parts = [part.strip() for part in text.split(",")]
    if axis != "lost_segments":
        return frozenset(parts)
    numbers: set[str] = set()
    for part in parts:
        ends = re.fullmatch(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?", part)
        if ends is None:
            raise UserError(
                f"{argument('cells')} {whole}: {part!r} is no number and no range",
                "lost segments are written like 5, 0..20 or 1,2,5",
                usage=True,
            )
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last < first or last > MOST_LOST:
            raise UserError(
                f"{argument('cells')} {whole}: no cell has the lost segments {part}",
                f"a range goes up, and to {MOST_LOST:,} at most",
                usage=True,
            )
        numbers.update(map(str, range(first, last + 1)))
    return frozenset(numbers)


def _text(value: Value) -> str:
    return "default" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _telling(*runs: list[Cell]) -> tuple[str, ...]:
    """The axes that a label needs beside network, configuration and lost segments."""
    points = [cell.point for run in runs for cell in run]
    between = AXES[2:-1]
    return tuple(axis for axis in between if len({point.value(axis) for point in points}) > 1)


def _label(a: Point, b: Point, told: tuple[str, ...]) -> str:
    mine, theirs = a.told(told), b.told(told)
    if mine == theirs:
        return mine
    parts = zip(mine.split(", "), theirs.split(", "), strict=False)
    return ", ".join(x if x == y else f"{x} : {y}" for x, y in parts)


def _described(run: Run, there: list[Cell], told: tuple[str, ...]) -> str:
    if not there:
        return f"{run.path}: no cell is chosen"
    names = [cell.point.told(told) for cell in there[:3]]
    more = f" and {len(there) - 3} more" if len(there) > 3 else ""
    return f"{run.path}: {count(len(there), 'cell')}: {'; '.join(names)}{more}"


def _remedy(selection: Selection) -> str:
    if selection.only or selection.maps:
        return f"choose others with {argument('cells')} and {argument('maps')}"
    return by_caller(
        called='compare values of other names with maps, as in {"config": {"tlp": "er"}}',
        typed="compare values of other names with --map, as in --map config:tlp=er",
    )
