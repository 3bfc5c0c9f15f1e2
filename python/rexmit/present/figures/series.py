"""The points of a figure: mean and standard deviation of one time along the x axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from rexmit.analysis.cells import Cell
from rexmit.statistics.spread import Spread

Measure = Literal["t_total", "t_recover"]


@dataclass(frozen=True)
class Point:
    """`mean_s` and `sd_s` over `n` transfers, at a place of the x axis; `sd_s` is 0 where n is
    1.
    """

    at: float
    mean_s: float
    sd_s: float
    n: int


@dataclass(frozen=True)
class Series:
    """One configuration's points, from left to right; a cell without a mean has none."""

    config: str
    points: tuple[Point, ...]


def series(
    cells: Iterable[Cell],
    measure: Measure,
    configs: Iterable[str],
    place: Callable[[Cell], float],
) -> tuple[Series, ...]:
    """One series a configuration, in the order given; `place` says where a cell stands."""
    by_config: dict[str, list[Point]] = {config: [] for config in configs}
    for cell in cells:
        spread: Spread = cell.t_total if measure == "t_total" else cell.t_recover
        if spread.mean_s is not None:
            point = Point(place(cell), spread.mean_s, spread.sd_s or 0.0, spread.n)
            by_config[cell.config].append(point)
    return tuple(
        Series(config, tuple(sorted(points, key=lambda point: point.at)))
        for config, points in by_config.items()
        if points
    )


def offsets(how_many: int, span: float = 20) -> list[float]:
    """How far each series is shifted along an axis of `span` steps, in steps: so that bars stand
    apart, and no further than they have to.
    """
    spacing = min(0.28, 0.0145 * (span + 1.2), 0.84 / max(how_many, 1))
    return [(i - (how_many - 1) / 2) * spacing for i in range(how_many)]
