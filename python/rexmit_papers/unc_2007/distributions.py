"""Cumulative distributions: Figures 1, 2, 3 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, PercentFormatter

from rexmit.present.figures.words import folded, legend_below
from rexmit.wording import count
from rexmit_papers.unc_2007.colours import MARKS, of_curve
from rexmit_papers.unc_2007.curves import Curve

LEAST: Final = 20
"""A group of fewer has no distribution drawn: one value would be more than 5 % of it. The paper
leaves out the 271 of FreeBSD's FR/R (footnote 10)."""

_STRAY: Final = 0.01
"""So many of a distribution's smallest values may lie left of a logarithmic axis."""


@dataclass(frozen=True)
class Distribution:
    """`curves` are drawn, `few` are too small to be; `limits` are the ends of the axis where the
    values have some.
    """

    title: str
    label: str
    of: str  #: what the values are of, in the singular
    curves: tuple[Curve, ...]
    few: tuple[Curve, ...]
    log: bool = False
    limits: tuple[float, float] | None = None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Where the axis ends; None: where the values do."""
        if self.limits:
            return self.limits
        return (_left(self.curves) if self.log else None), None

    @property
    def told(self) -> str:
        """What the figure does not show, in a line each."""
        lines = []
        if self.few:
            lines.append(not_drawn([(one.label, one.n) for one in self.few], self.of))
        outside = _outside(self.curves, *self.ends)
        if outside:
            lines.append(f"beyond the axis: {count(outside, self.of)}")
        return "\n".join(lines)


def distribution(
    every: Sequence[Curve],
    title: str,
    label: str,
    of: str,
    *,
    log: bool = False,
    limits: tuple[float, float] | None = None,
) -> Distribution | str:
    """The figure, or why there is none."""
    drawn = tuple(one for one in every if one.n >= LEAST)
    if not drawn:
        most = max((one.n for one in every), default=0)
        if not most:
            return "no connection has what it shows"
        return f"no group has {LEAST} {of}s; the largest has {most}"
    few = tuple(one for one in every if 0 < one.n < LEAST)
    return Distribution(title, label, of, drawn, few, log, limits)


def draw(canvas: Canvas, planned: Distribution) -> None:
    """Onto an empty canvas."""
    axes = canvas.add_subplot()
    title = folded(canvas, planned.title, canvas.get_figwidth() - 1, fontsize=10, fontweight="bold")
    axes.set_title(title, loc="left", fontweight="bold")
    for place, one in enumerate(planned.curves):
        colour, dash = of_curve(one.label, place)
        points = [(max(x, 1e-9) if planned.log else x, share) for x, share in one.points]
        xs, shares = zip(*points, strict=True)
        axes.step(
            [xs[0], *xs],
            [0, *shares],
            where="post",
            color=colour,
            linestyle=dash,
            linewidth=1.3,
            marker=MARKS.get(one.label.partition(" ")[0], ""),
            markevery=(0.03 * (1 + place % 4), 0.2),
            label=f"{one.label} (n = {one.n:,})",
        )
    if planned.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(plain))
    low, high = planned.ends
    axes.set_xlim(left=low, right=high)
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(planned.label + (", log scale" if planned.log else ""))
    axes.set_ylabel(f"share of {planned.of}s")
    handles, labels = axes.get_legend_handles_labels()
    legend_below(canvas, handles, labels, small=planned.told, most=4)


def not_drawn(few: Sequence[tuple[str, int]], of: str) -> str:
    """The groups that are too small, by name, and how many each has."""
    groups = ", ".join(f"{label} ({n:,})" for label, n in few)
    return f"not drawn, fewer than {LEAST} {of}s: {groups}"


def _left(curves: Sequence[Curve]) -> float:
    """Where a logarithmic axis begins: a stray value near zero does not press the rest together."""
    firsts = [
        min((x for x, share in one.points if share > _STRAY and x > 0), default=1.0)
        for one in curves
    ]
    return min(firsts) / 1.5


def _outside(curves: Sequence[Curve], low: float | None, high: float | None) -> int:
    outside = 0
    for one in curves:
        left = max((share for x, share in one.points if low is not None and x < low), default=0.0)
        right = 0.0 if high is None else 1 - one.at(high)
        outside += round(one.n * left) + round(one.n * right)
    return outside


def plain(value: float, _place: object = None) -> str:
    """A number at a tick."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value / 1e3:g} k" if abs(value) >= 1e4 else f"{value:g}"
