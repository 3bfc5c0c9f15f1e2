"""The figures of UNC 2007, as numbers for the browser."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit.webpage import looks
from rexmit.webpage.part import Figure, FigureLine, Mark
from rexmit_papers.unc_2007.colours import SYSTEMS, of_curve
from rexmit_papers.unc_2007.distributions import Distribution
from rexmit_papers.unc_2007.figures import Planned
from rexmit_papers.unc_2007.reductions import FEW, MARKERS, STRAIGHT_RTTS, MarkedGroup, Reductions


def figures(planned: Planned, command: str) -> list[Figure]:
    """Of what is planned a figure a panel; `command` draws them."""
    panels: list[Figure] = []
    for name, one in planned.items():
        if isinstance(one, Distribution):
            panels += distribution(name, one, command)
        elif isinstance(one, Reductions):
            panels += _reductions(name, one, command)
    return panels


def _of_the_paper(name: str) -> str:
    return "Figure " + name.split("-")[1] + " of UNC 2007"


def distribution(name: str, planned: Distribution, command: str) -> Iterator[Figure]:
    """The figure, or none where nothing has a place on its axis."""
    lines = []
    for place, one in enumerate(planned.curves):
        colour, dash = of_curve(one.label, place)
        marks = tuple(Mark(x, 100 * share) for x, share in one.points if x > 0 or not planned.log)
        label = f"{one.label} (n = {one.n:,})"
        lines.append(FigureLine(label, marks, colour=looks.place(colour), dashed=dash != "-"))
    low, high = planned.ends
    xs = [mark.at for line in lines for mark in line.marks]
    if not xs:
        # A logarithmic axis has no place for 0.
        return
    yield Figure(
        name,
        f"{_of_the_paper(name)}: {planned.title}",
        tuple(planned.told.splitlines()),
        planned.label + (", log scale" if planned.log else ""),
        f"share of {planned.of}s (%)",
        tuple(lines),
        command,
        draws="steps",
        x_axis="log" if planned.log else "linear",
        ends=(low if low is not None else min(xs), high if high is not None else max(xs)),
    )


def _reductions(name: str, planned: Reductions, command: str) -> Iterator[Figure]:
    for place, panel in enumerate(planned.panels):
        letter = f" {chr(ord('a') + place)})" if len(planned.panels) > 1 else ""
        lines = [_bins(group, at) for at, group in enumerate(panel)]
        high = max([STRAIGHT_RTTS, *(mark.at for line in lines for mark in line.marks)]) * 1.8
        best = tuple(Mark(at, at) for at in (0.0, STRAIGHT_RTTS, high))
        lines.append(
            FigureLine("Best-Case: slope of 1", best, colour=looks.place("#888888"), dashed=True)
        )
        yield Figure(
            f"{name}-{'abcdefgh'[place]}" if letter else name,
            f"{_of_the_paper(name)}{letter}: {planned.title}",
            (*planned.told.splitlines(), "both axes: linear about 0, logarithmic beyond"),
            "Best-Case reduction (RTTs)",
            "reduction of the duration (RTTs)",
            tuple(lines),
            command,
            draws="slope",
            x_axis="asinh",
            y_axis="asinh",
            ends=(0.0, high),
        )


def _bins(group: MarkedGroup, place: int) -> FigureLine:
    marks = tuple(
        Mark(one.best_case, one.mean, to=one.p95, few=one.n < FEW) for one in group.bins.bins
    )
    return FigureLine(
        f"{group.bins.label} (n = {group.n:,})",
        marks,
        colour=looks.place(SYSTEMS.get(group.system, "#000000")),
        shape=looks.shape(MARKERS[place]),
    )
