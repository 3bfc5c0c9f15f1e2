"""Drawing a planned figure with matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.markers import TICKDOWN, MarkerStyle
from matplotlib.ticker import MaxNLocator

from rexmit.present.figures.plan import Figure, Panel, Series
from rexmit.present.figures.style import Look, looks
from rexmit.present.figures.words import fits, folded, legend_below, plain, width
from rexmit.present.figures.xaxis import offsets

#: Inches of a panel beside others, or below others; of one alone they are those of the style.
_WIDE, _HIGH = 3.3, 2.5

#: Where many marks stand beside each other a panel is as wide as they need, so wide at most.
_MARK_WIDE, _WIDEST = 0.07, 4.3

#: What the y axis takes of a panel's width, in inches.
_LEFT = 0.7

#: Words of ticks that would not fit stand upright, in lines so long.
_STANDING = 2.4

_MARK: dict[str, Any] = {
    "markersize": 5.5,
    "markeredgewidth": 0.8,
    "markerfacecolor": "none",
    "linestyle": "none",
}


def draw(figure: Figure) -> Canvas:
    """The figure on a canvas of its own; no window system is touched. Inside `styled`."""
    down, right = len(figure.rows), max(map(len, figure.rows))
    canvas = Canvas(layout="constrained")
    FigureCanvasAgg(canvas)
    if right > 1:
        marks = len(figure.x.places) * len(figure.labels)
        canvas.set_figwidth(right * min(max(_WIDE, _MARK_WIDE * marks), _WIDEST))
    if down > 1:
        canvas.set_figheight(_HIGH * down + 0.6)
    title = folded(canvas, figure.title, fontsize=10, fontweight="bold")
    canvas.suptitle(title, fontsize=10, fontweight="bold")
    grid: Any = canvas.subplots(
        down, right, sharex=True, sharey="row" if figure.shares_y else "none", squeeze=False
    )
    look = looks(figure.labels)
    for row, panels in enumerate(figure.rows):
        for place in range(len(panels), right):
            grid[row][place].remove()
        for place, panel in enumerate(panels):
            axes = grid[row][place]
            _panel(axes, figure, panel, look)
            wide = canvas.get_figwidth() / right - _LEFT
            # Panels below each other of one title have it once.
            if not row or panel.title != figure.rows[row - 1][place].title:
                axes.set_title(folded(canvas, panel.title, wide, fontsize=9), fontsize=9)
            below = row + 1 == down or place >= len(figure.rows[row + 1])
            axes.tick_params(labelbottom=below)
            if below:
                axes.set_xlabel(folded(canvas, figure.x.label, wide, fontsize=9))
        _y_axes(canvas, grid[row], panels, shared=figure.shares_y)
    _x_axis(canvas, grid, figure)
    _legend(canvas, figure, look)
    return canvas


def _panel(axes: Axes, figure: Figure, panel: Panel, look: dict[str, Look]) -> None:
    low, high = figure.x.ends
    for label, shift in zip(figure.labels, offsets(len(figure.labels), high - low), strict=True):
        for line in panel.series:
            if line.label == label:
                _series(axes, line, panel.factor, look[label], shift, joined=figure.x.ticks is None)
        marks = [mark for mark in panel.marks if mark.label == label]
        axes.plot(
            [mark.at + shift for mark in marks],
            [mark.mean * panel.factor for mark in marks],
            color=look[label].colour,
            marker=look[label].marker,
            zorder=2,
            **_MARK,
        )


def _series(
    axes: Axes, line: Series, factor: float, look: Look, shift: float, *, joined: bool
) -> None:
    """Along numbers the points are joined; between words there is nothing."""
    at = [point.at + shift for point in line.points]
    means = [point.mean * factor for point in line.points]
    if joined:
        axes.plot(at, means, color=look.colour, linestyle=look.dash, alpha=0.45, zorder=2)
    known = {place: point.interval for place, point in enumerate(line.points) if point.interval}
    axes.errorbar(
        [at[place] for place in known],
        [means[place] for place in known],
        # Rounding may put an end that is the mean beyond it.
        yerr=[
            [max(0.0, means[place] - one.low * factor) for place, one in known.items()],
            [max(0.0, one.high * factor - means[place]) for place, one in known.items()],
        ],
        color=look.colour,
        marker=look.marker,
        linestyle="none",
        elinewidth=0.9,
        capthick=0.9,
        zorder=3,
    )
    alone = [place for place in range(len(at)) if place not in known]
    axes.plot(
        [at[place] for place in alone],
        [means[place] for place in alone],
        color=look.colour,
        marker=look.marker,
        markerfacecolor="white",
        linestyle="none",
        zorder=3,
    )


def _x_axis(canvas: Canvas, grid: Any, figure: Figure) -> None:  # noqa: ANN401 - matplotlib's
    """All panels share it."""
    axes = grid[0][0]
    low, high = figure.x.ends
    axes.set_xlim(low - 0.6, high + 0.6)
    wide = canvas.get_figwidth() / len(grid[0]) - _LEFT
    ends = (low - 0.6, high + 0.6)
    if figure.x.ticks is not None:
        places, words = zip(*figure.x.ticks, strict=True)
        if fits(figure.x.ticks, ends, wide):
            axes.set_xticks(places, list(map(plain, words)))
        else:
            standing = [folded(canvas, text, _STANDING, fontsize=9) for text in words]
            axes.set_xticks(places, standing)
            high = max(width(text, fontsize=9) for text in standing)
            canvas.set_figheight(canvas.get_figheight() + high)
            for one in canvas.axes:
                one.tick_params(axis="x", labelrotation=90)
    elif fits([(at, f"{at:g}") for at in figure.x.places.values()], ends, wide):
        axes.set_xticks(sorted(figure.x.places.values()))
    else:
        nbins = 11 if wide > 4 else 6
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=nbins, steps=[1, 2, 5, 10]))
        if high - low <= 40:
            for one in canvas.axes:
                _small_ticks(one, range(math.ceil(low - 0.6), math.floor(high + 0.6) + 1))
    for one in canvas.axes:
        for place in figure.x.breaks:
            one.axvline(place, color="#999999", linewidth=0.7, linestyle=(0, (2, 3)), zorder=1)


def _small_ticks(axes: Axes, places: Sequence[int]) -> None:
    """Where matplotlib's minor ticks would be, as one artist: of those each is an artist with five
    others, and finding their places is half the time of a figure."""
    ticks = Line2D(
        places,
        [0.0] * len(places),
        color="black",
        linestyle="none",
        marker=MarkerStyle(TICKDOWN),
        markersize=2.0,
        markeredgewidth=0.6,
        transform=axes.get_xaxis_transform(),
        clip_on=False,
    )
    axes.add_artist(ticks).set_in_layout(False)


def _y_axes(canvas: Canvas, row: Any, panels: tuple[Panel, ...], *, shared: bool) -> None:  # noqa: ANN401 - matplotlib's
    """Of a row: room above the highest bar; 1 where all is zero."""
    high = max(panel.top for panel in panels)
    for axes, panel in zip(row, panels, strict=False):
        axes.set_ylim(0, 1.08 * (high if shared else panel.top) or 1.0)
    room = canvas.get_figheight() / max(1, round(canvas.get_figheight() / _HIGH)) - 0.7
    row[0].set_ylabel(folded(canvas, panels[0].y, max(room, 1.8), fontsize=9))


def _legend(canvas: Canvas, figure: Figure, look: dict[str, Look]) -> None:
    """What the colours are, where there is more than one; and the notes."""
    drawn = [
        Line2D(
            [],
            [],
            color=look[label].colour,
            marker=look[label].marker,
            linestyle=look[label].dash if figure.x.ticks is None else "none",
        )
        for label in figure.labels
    ]
    labels = list(figure.labels)
    if len(labels) == 1 and not figure.marks_label:
        drawn, labels = [], []
    if figure.marks_label:
        drawn.append(Line2D([], [], color="#555555", marker="o", **_MARK))
        labels.append(f"{figure.marks_label} (open marks)")
    legend_below(canvas, drawn, labels, small="\n".join(figure.notes))
