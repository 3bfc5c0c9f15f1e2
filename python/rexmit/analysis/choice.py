"""Which cells of a grid are meant: for an axis the values that count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import polars as pl

from rexmit.analysis.axes import AXES, axis_named, value_text
from rexmit.errors import UserError, argument, by_caller
from rexmit.scenario.values import MOST_LOST

Cells: TypeAlias = Mapping[str, object] | Iterable[str]
"""Which cells: `{"network": "mobile", "lost": "1..5"}`, or texts `AXIS=VALUES`. Values that are
listed (`{"network": ["a, b"]}`) are taken as they are."""


def chosen(cells: Cells | None, axes: tuple[str, ...] = AXES) -> dict[str, frozenset[str]]:
    """By axis the values that count, as texts. Raises UserError (usage)."""
    if isinstance(cells, Mapping):
        return dict(_of_axis(name, values, axes) for name, values in cells.items())
    return dict(_of_text(text, axes) for text in cells or ())


def _of_axis(name: str, values: object, axes: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    axis = axis_named(name, f"{argument('cells')} {name}", axes)
    if not isinstance(values, list | tuple | set | frozenset):
        return axis, _values(axis, str(values), f"{name}={values}")
    each = [value if isinstance(value, str) else value_text(value) for value in values]
    if axis != "lost_segments":
        return axis, frozenset(each)
    return axis, frozenset[str]().union(*(_values(axis, text, f"{name}={text}") for text in each))


def _of_text(text: str, axes: tuple[str, ...]) -> tuple[str, frozenset[str]]:
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
    axis = axis_named(name, f"{argument('cells')} {text}", axes)
    return axis, _values(axis, values, text)


def keep(frame: pl.DataFrame, only: Mapping[str, frozenset[str]]) -> pl.DataFrame:
    """The rows of a frame made by `axes.with_axes` that are of the cells chosen."""
    for axis, values in only.items():
        there = [value for value in frame[axis].unique() if value_text(value) in values]
        kept = pl.col(axis).is_in([value for value in there if value is not None])
        frame = frame.filter(kept.fill_null(None in there))
    return frame


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
