"""Reduction of durations against the Best-Case reduction: Figures 4, 5 and 7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from rexmit.present.figures.words import folded, legend_below
from rexmit_papers.unc_2007.colours import SYSTEMS
from rexmit_papers.unc_2007.curves import Bins
from rexmit_papers.unc_2007.distributions import LEAST, not_drawn, plain

STRAIGHT_RTTS: Final = 1.0
"""Up to here both axes are linear, beyond logarithmic. Both alike, so that a line with a slope of
1 is straight; and linear around 0, because reductions are negative, too."""

FEW: Final = 5
"""The mark of a bin of fewer connections is open: its mean hangs on one or two of them."""

MARKERS: Final = ("o", "s", "^", "D")
"""Of the groups of a panel."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class MarkedGroup:
    """What has marks of its own, and the system whose colour they have."""

    system: str
    bins: Bins

    @property
    def n(self) -> int:
        """Its connections in all bins."""
        return sum(one.n for one in self.bins.bins)


@dataclass(frozen=True)
class Reductions:
    """A panel for each sequence of groups; `few` are too small to be drawn."""

    title: str
    panels: tuple[tuple[MarkedGroup, ...], ...]
    few: tuple[MarkedGroup, ...]

    @property
    def told(self) -> str:
        """What the figure does not show, and what its marks are, in a line each."""
        lines = ["marks: mean of a bin; bars: to its 95th percentile"]
        if any(one.n < FEW for panel in self.panels for group in panel for one in group.bins.bins):
            lines[0] += f"; open: fewer than {FEW} connections in it"
        if self.few:
            lines.append(not_drawn([(one.bins.label, one.n) for one in self.few], "connection"))
        return "\n".join(lines)


def reductions(title: str, panels: Sequence[Sequence[MarkedGroup]]) -> Reductions | str:
    """The figure, or why there is none."""
    there = [[group for group in panel if group.n] for panel in panels]
    every = [group for panel in there for group in panel]
    if not every:
        return "no connection was replayed with these settings"
    drawn = [tuple(group for group in panel if group.n >= LEAST) for panel in there]
    if not any(drawn):
        return f"no group has {LEAST} connections; the largest has {max(g.n for g in every)}"
    few = tuple(group for group in every if group.n < LEAST)
    return Reductions(title, tuple(panel for panel in drawn if panel), few)


def size(planned: Reductions) -> tuple[float, float]:
    """In inches."""
    panels = len(planned.panels)
    return (3.3 * panels + 0.4 if panels > 1 else 5.0), 4.1


def draw(canvas: Canvas, planned: Reductions) -> None:
    """Onto an empty canvas."""
    title = folded(canvas, planned.title, fontsize=10, fontweight="bold")
    canvas.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    several = len(planned.panels) > 1
    every: Any = canvas.subplots(1, len(planned.panels), sharex=True, sharey=True, squeeze=False)
    for letter, axes, panel in zip(_LETTERS, every[0], planned.panels, strict=False):
        _panel(axes, panel, f"{letter})" if several else "")
    _scales(every[0], planned)
    every[0][0].set_ylabel("reduction of the duration (RTTs)")
    line = [one for one in every[0][0].lines if one.get_label() == _BEST]
    legend_below(canvas, line, [_BEST], small=planned.told)


_BEST: Final = "Best-Case: slope of 1"


def _scales(every: Sequence[Axes], planned: Reductions) -> None:
    """The same scale for both axes; all panels have the same range."""
    bests = [one.best_case for panel in planned.panels for g in panel for one in g.bins.bins]
    high = max([*bests, STRAIGHT_RTTS]) * 1.8
    for axes in every:
        axes.set_xscale("symlog", linthresh=STRAIGHT_RTTS)
        axes.set_yscale("symlog", linthresh=STRAIGHT_RTTS)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(plain))
            within = SymmetricalLogLocator(base=10, linthresh=STRAIGHT_RTTS, subs=range(2, 10))
            axis.set_minor_locator(within)
        axes.plot(
            [0, high], [0, high], color="#777777", linestyle="--", linewidth=0.9, zorder=1,
            label=_BEST,
        )  # fmt: skip
        axes.axhline(0, color="#999999", linewidth=0.6, zorder=1)
        axes.set_xlim(0, high)
        axes.set_xlabel(f"Best-Case reduction (RTTs),\nlinear to {STRAIGHT_RTTS:g}, then log scale")


def _panel(axes: Axes, panel: Sequence[MarkedGroup], letter: str) -> None:
    for place, group in enumerate(panel):
        # Marks of one bin stand beside each other.
        aside = 1.08**place
        colour = SYSTEMS.get(group.system, "#000000")
        axes.errorbar(
            [one.best_case * aside for one in group.bins.bins],
            [one.mean for one in group.bins.bins],
            # Of a skewed bin the mean can be beyond the 95th percentile: the bar then goes down.
            yerr=(
                [max(one.mean - one.p95, 0.0) for one in group.bins.bins],
                [max(one.p95 - one.mean, 0.0) for one in group.bins.bins],
            ),
            color=colour,
            alpha=1 if place == 0 else 0.65,
            marker=MARKERS[place],
            linestyle="none",
            elinewidth=0.9,
            label=f"{group.bins.label} (n = {group.n:,})",
            zorder=3,
        )
        few = [one for one in group.bins.bins if one.n < FEW]
        axes.plot(
            [one.best_case * aside for one in few],
            [one.mean for one in few],
            linestyle="none",
            marker=MARKERS[place],
            color=colour,
            markerfacecolor="white",
            zorder=4,
        )
    axes.set_title(letter, loc="left", fontsize=9)
    # Above the panel: within it marks can be anywhere.
    axes.legend(loc="lower left", bbox_to_anchor=(0.06 if letter else -0.02, 1.0), fontsize=8)
