"""The reliability diagram of a score: what was said against how often it is so, a panel a point."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

from rexmit.present.figures.style import Look, looks
from rexmit.present.figures.words import folded, legend_below, plain
from rexmit_validate.score.reliability import CHECKED, TARGET, WHAT, Reliability

LEAST = 10
"""Bins with fewer rows are not drawn: they say nothing."""

_SMALL = f"bars: 95 % intervals; not drawn: bins of fewer than {LEAST} rows"


def draw(points: Mapping[str, Mapping[str, Reliability]], title: str) -> Canvas:
    """The figure on a canvas of its own; no window system is touched. Inside `styled`."""
    canvas = Canvas(figsize=(max(4.6, 1.2 + 2.6 * len(points)), 4.1), layout="constrained")
    FigureCanvasAgg(canvas)
    panels = canvas.subplots(1, max(len(points), 1), sharex=True, sharey=True, squeeze=False)[0]
    look = looks(tuple(WHAT))
    for panel, (point, measured) in zip(panels, points.items(), strict=False):
        _frame(panel, point)
        for what, reliability in measured.items():
            _line(panel, what, reliability, look[what])
    panels[0].set_ylabel("share that is right")
    # A panel has what has rows enough there: the legend has what any of them has.
    known = {
        label: handle
        for panel in panels
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    legend_below(canvas, list(known.values()), list(known), small=_SMALL)
    words = folded(canvas, title, fontsize=10, fontweight="bold")
    canvas.suptitle(words, x=0.01, horizontalalignment="left", fontsize=10, fontweight="bold")
    return canvas


def _frame(axes: Axes, point: str) -> None:
    axes.set_title(plain(f"at the {point}"), loc="left", fontsize=9)
    axes.set_xlabel("probability said")
    axes.set_xlim(0, 1.02)
    axes.set_ylim(0, 1.02)
    axes.set_aspect("equal")
    axes.plot(
        [0, 1],
        [0, 1],
        color="#999999",
        linewidth=0.7,
        linestyle=(0, (4, 3)),
        zorder=1,
        label="as often as said",
    )
    axes.fill_between(
        CHECKED,
        *TARGET,
        color="#dddddd",
        linewidth=0,
        zorder=1,
        label="target of what is said with 0.9",
    )


def _line(axes: Axes, what: str, reliability: Reliability, look: Look) -> None:
    bins = [one for one in reliability.bins if one.rows >= LEAST]
    if not bins:
        return
    confidences = [one.expected / one.rows for one in bins]
    right = [one.right / one.rows for one in bins]
    ends = [one.interval or (0.0, 0.0) for one in bins]
    below = [max(0.0, share - low) for share, (low, _) in zip(right, ends, strict=True)]
    above = [max(0.0, high - share) for share, (_, high) in zip(right, ends, strict=True)]
    axes.errorbar(
        confidences,
        right,
        yerr=[below, above],
        color=look.colour,
        marker=look.marker,
        elinewidth=0.9,
        capthick=0.9,
        label=what,
        zorder=3,
    )
