"""What stands on the x axis of a figure, and where: lost segments, or a setting that was swept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

from rexmit.analysis.axes import Value, percent_words, size_words
from rexmit.analysis.chart import RUN

LOSSES = "lost_segments"

#: From this ratio between the largest and the smallest on the axis is logarithmic.
_LOG_FROM = 10

#: An axis has at most so many steps: closer neighbours may overlap.
_STEPS = 30

_LABELS = {
    LOSSES: "lost segments at the end of the transfer",
    "page_segments": "page (segments)",
    "page_bytes": "page",
    "receive_window_bytes": "receive window",
    "line_loss": "random loss on the line",
    "congestion_control": "congestion control",
    "network": "network",
    "config": "configuration",
    "client": "client",
    "loss_mode": "how the tail is found",
    "loss_pattern": "lost packets",
}


@dataclass(frozen=True)
class XAxis:
    """Places in steps: as a rule neighbours are at least one apart, so that series shifted by less
    than half a step stay with their value. `ticks` is None where the places are the numbers
    themselves; `breaks` are places where the axis does not go on.
    """

    name: str
    label: str
    places: dict[Value, float]
    ticks: tuple[tuple[float, str], ...] | None = None
    breaks: tuple[float, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and highest place."""
        return min(self.places.values()), max(self.places.values())


def losses_axis(losses: Iterable[int]) -> XAxis:
    """Lost segments stand at their number."""
    return XAxis(LOSSES, _LABELS[LOSSES], {n: float(n) for n in sorted(set(losses))})


def axis(name: str, values: Iterable[Value], words: Callable[[str, Value], str]) -> XAxis:
    """The axis of a grid, whichever it is; `words` are a run's."""
    there = list(dict.fromkeys(values))
    if name == LOSSES:
        return losses_axis(int(value or 0) for value in there)
    if name == RUN:
        places = {value: float(place) for place, value in enumerate(there)}
        ticks = tuple((place, words(name, value)) for value, place in places.items())
        return XAxis(name, name, places, ticks)
    return setting_axis(name, there)


def offsets(how_many: int, span: float = 20) -> list[float]:
    """How far each series is shifted along an axis of `span` steps, in steps: so that bars stand
    apart, and no further than they have to.
    """
    spacing = min(0.28, 0.0145 * (span + 1.2), 0.84 / max(how_many, 1))
    return [(i - (how_many - 1) / 2) * spacing for i in range(how_many)]


def setting_axis(name: str, values: Iterable[Value]) -> XAxis:
    """Numbers stand in order, far ones on a logarithmic scale, with `none` of it left of them and
    what the kernel chooses right of them; names stand as the grid lists them.
    """
    there = list(dict.fromkeys(values))
    places: dict[Value, float] = {}
    if any(isinstance(value, str) for value in there):
        places.update((value, float(i)) for i, value in enumerate(there))
        return XAxis(name, _LABELS.get(name, name), places, _ticks(name, places))
    numbers = sorted(float(value) for value in there if isinstance(value, int | float))
    positive = [number for number in numbers if number > 0]
    log = len(positive) > 1 and positive[-1] >= _LOG_FROM * positive[0]
    scaled = {n: math.log10(n) if log else n for n in (positive if log else numbers)}
    steps = _in_steps(scaled)
    low, high = (min(steps.values()), max(steps.values())) if steps else (0.0, 0.0)
    gap = max(1.0, (high - low) / 8)
    breaks = []
    for value in there:
        if isinstance(value, int | float) and value in steps:
            places[value] = steps[float(value)]
        elif value is None and steps:
            places[value] = high + gap
            breaks.append(high + gap / 2)
        else:
            places[value] = low - gap if steps else 0.0
            breaks += [low - gap / 2] if steps else []
    label = _LABELS.get(name, name) + (", log scale" if log else "")
    return XAxis(name, label, places, _ticks(name, places), tuple(breaks))


def _in_steps(scaled: dict[float, float]) -> dict[float, float]:
    marks = sorted(scaled.values())
    if len(marks) < 2:
        return dict.fromkeys(scaled, 0.0)
    step = max(min(b - a for a, b in pairwise(marks)), (marks[-1] - marks[0]) / _STEPS)
    return {number: (mark - marks[0]) / step for number, mark in scaled.items()}


def _ticks(name: str, places: dict[Value, float]) -> tuple[tuple[float, str], ...]:
    """A tick a value; of ticks too close to each other the first has its label."""
    ordered = sorted((place, _tick(name, value)) for value, place in places.items())
    room = (ordered[-1][0] - ordered[0][0]) / 12
    ticks: list[tuple[float, str]] = []
    labelled = -math.inf
    for place, text in ordered:
        shown = place - labelled >= room
        labelled = place if shown else labelled
        ticks.append((place, text if shown else ""))
    return tuple(ticks)


def _tick(name: str, value: Value) -> str:
    if value is None:
        return "default"
    if name.endswith("_bytes"):
        return size_words(value)
    if name == "line_loss":
        return percent_words(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
