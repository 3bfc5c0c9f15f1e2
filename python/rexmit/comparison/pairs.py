"""Which cells of two runs belong together: those with the same values on every axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from rexmit.analysis.axes import AXES, Value, axis_named, value_text, with_axes, words
from rexmit.analysis.choice import Cells, chosen
from rexmit.errors import UserError, argument, by_caller
from rexmit.store.open_run import Run
from rexmit.wording import count


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
class RunCell:
    """A cell of one run: its number there, and its rows."""

    number: int
    point: Point
    rows: pl.DataFrame


@dataclass(frozen=True)
class Pair:
    """A cell of A and the one of B that it is compared with."""

    label: str
    a: RunCell
    b: RunCell


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
            here = value_text(point.value(axis))
            maps = self.maps.get(axis, {})
            names = {maps.get(value, value) for value in values} if mapped else values
            if here not in names:
                return False
        for axis, maps in self.maps.items():
            sides = maps.values() if mapped else maps.keys()
            if value_text(point.value(axis)) not in sides:
                return False
        return True

    def partner(self, point: Located) -> tuple[str, ...]:
        """What names the partner of a cell of A in B."""
        texts = []
        for axis, value in zip(self.axes, point.values, strict=True):
            text = value_text(value)
            texts.append(self.maps.get(axis, {}).get(text, text))
        return tuple(texts)


def cells(run: Run) -> list[RunCell]:
    """The cells of a run, in the order of its grid."""
    parts = with_axes(run.transfers).partition_by("cell", maintain_order=True)
    return [RunCell(int(part["cell"][0]), Point(part.select(AXES).row(0)), part) for part in parts]


def match(a: Run, b: Run, selection: Selection) -> Matched:
    """Pairs the cells of two runs. Raises UserError (usage) when no two belong together."""
    in_a = [cell for cell in cells(a) if selection.keeps(cell.point, mapped=False)]
    in_b = [cell for cell in cells(b) if selection.keeps(cell.point, mapped=True)]
    between = _telling(in_a, in_b)
    there = {tuple(map(value_text, cell.point.values)): cell for cell in in_b}
    pairs, met = [], set()
    only_a = []
    for cell in in_a:
        key = selection.partner(cell.point)
        if key in there:
            pairs.append(Pair(_label(cell.point, there[key].point, between), cell, there[key]))
            met.add(key)
        else:
            only_a.append(cell.point.told(between))
    only_b = [cell.point.told(between) for key, cell in there.items() if key not in met]
    if not pairs:
        raise UserError(
            f"{a.path} and {b.path} have no cell in common",
            [_described(a, in_a, between), _described(b, in_b, between), _remedy(selection)],
            usage=True,
        )
    return Matched(tuple(pairs), tuple(only_a), tuple(only_b))


def selection(only: Cells | None, maps: Sequence[str], axes: tuple[str, ...] = AXES) -> Selection:
    """Reads cells, and `AXIS:A=B` texts. Raises UserError (usage)."""
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
        axis = axis_named(name, f"{argument('maps')} {text}", axes)
        mapped.setdefault(axis, {})[left] = right
    return Selection(chosen(only, axes), mapped, axes)


def _telling(*runs: list[RunCell]) -> tuple[str, ...]:
    """The axes that a label needs beside network, configuration and lost segments."""
    points = [cell.point for run in runs for cell in run]
    between = AXES[2:-1]
    return tuple(axis for axis in between if len({point.value(axis) for point in points}) > 1)


def _label(a: Point, b: Point, between: tuple[str, ...]) -> str:
    mine, theirs = a.told(between), b.told(between)
    if mine == theirs:
        return mine
    parts = zip(mine.split(", "), theirs.split(", "), strict=False)
    return ", ".join(x if x == y else f"{x} : {y}" for x, y in parts)


def _described(run: Run, there: list[RunCell], between: tuple[str, ...]) -> str:
    if not there:
        return f"{run.path}: no cell is chosen"
    names = [cell.point.told(between) for cell in there[:3]]
    more = f" and {len(there) - 3} more" if len(there) > 3 else ""
    return f"{run.path}: {count(len(there), 'cell')}: {'; '.join(names)}{more}"


def _remedy(selection: Selection) -> str:
    if selection.only or selection.maps:
        return f"choose others with {argument('cells')} and {argument('maps')}"
    return by_caller(
        called='compare values of other names with maps, as in {"config": {"tlp": "er"}}',
        typed="compare values of other names with --map, as in --map config:tlp=er",
    )
