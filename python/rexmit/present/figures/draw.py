"""Drawing a planned figure with matplotlib."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, MultipleLocator

from rexmit.present.figures.plan import Figure
from rexmit.present.figures.series import Series, offsets
from rexmit.present.figures.style import Look, looks
from rexmit.present.figures.words import folded, legend_below, plain

#: Titles begin where the axes do, so far from the left end, in inches; some more for margins.
_LEFT = 1.0

_LABELS = {
    "t_total": "total transfer time $t_\\mathrm{total}$ (s)",
    "t_recover": "time to the first retransmission $t_\\mathrm{recover}$ (s)",
}


def draw(figure: Figure) -> Canvas:
    """The figure on a canvas of its own; no window system is touched. Inside `styled`."""
    canvas = Canvas(layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    look = looks(tuple(line.config for line in figure.series))
    low, high = figure.x.ends
    shifts = offsets(len(figure.series), high - low)
    for line, shift in zip(figure.series, shifts, strict=True):
        _series(axes, line, look[line.config], shift)
        _marks(axes, figure, line.config, look[line.config], shift)
    _axes(canvas, axes, figure)
    _legend(canvas, axes, figure)
    return canvas


def _series(axes: Axes, line: Series, look: Look, shift: float) -> None:
    axes.errorbar(
        [point.at + shift for point in line.points],
        [point.mean_s for point in line.points],
        yerr=[point.sd_s for point in line.points],
        color=look.colour,
        marker=look.marker,
        linestyle="none",
        elinewidth=0.9,
        capthick=0.9,
        label=line.config,
        zorder=3,
    )


def _marks(axes: Axes, figure: Figure, config: str, look: Look, shift: float) -> None:
    marks = [mark for mark in figure.marks if mark.config == config]
    axes.plot(
        [mark.at + shift for mark in marks],
        [mark.mean_s for mark in marks],
        color=look.colour,
        marker=look.marker,
        markersize=5.5,
        markeredgewidth=0.8,
        markerfacecolor="none",
        linestyle="none",
        zorder=2,
    )


def _axes(canvas: Canvas, axes: Axes, figure: Figure) -> None:
    axes.set_xlabel(plain(figure.x.label))
    axes.set_ylabel(_LABELS[figure.measure])
    _titles(canvas, axes, figure)
    low, high = figure.x.ends
    axes.set_xlim(low - 0.6, high + 0.6)
    if figure.x.ticks is None and high - low < 3:
        axes.set_xticks(range(round(low), round(high) + 1))
    elif figure.x.ticks is None:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=11, steps=[1, 2, 5, 10]))
        if high - low <= 40:
            axes.xaxis.set_minor_locator(MultipleLocator(1))
    else:
        places, labels = zip(*figure.x.ticks, strict=True)
        axes.set_xticks(places, list(map(plain, labels)))
    for place in figure.x.breaks:
        axes.axvline(place, color="#999999", linewidth=0.7, linestyle=(0, (2, 3)), zorder=1)
    axes.set_ylim(0, _top(figure))


def _titles(canvas: Canvas, axes: Axes, figure: Figure) -> None:
    """The title and, below it in small print, the rest; folded where the figure ends."""
    room = canvas.get_figwidth() - _LEFT
    small = "\n".join(folded(canvas, text, room, fontsize=8) for text in figure.subtitles)
    above = 7 + 11 * (small.count("\n") + 1)
    title = folded(canvas, figure.title, room, fontsize=10, fontweight="bold")
    axes.set_title(title, loc="left", fontweight="bold", pad=above)
    axes.annotate(
        small,
        xy=(0, 1),
        xycoords="axes fraction",
        xytext=(0, 5),
        textcoords="offset points",
        fontsize=8,
        color="#555555",
        verticalalignment="bottom",
    )


def _legend(canvas: Canvas, axes: Axes, figure: Figure) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if figure.marks:
        handles.append(
            Line2D(
                [],
                [],
                color="#555555",
                marker="o",
                markersize=5.5,
                markeredgewidth=0.8,
                markerfacecolor="none",
                ls="",
            )
        )
        labels.append(f"{figure.marks_label} (open marks)")
    legend_below(canvas, handles, labels)


def _top(figure: Figure) -> float:
    """Room above the highest bar; 1 s where all times are zero."""
    ends = [point.mean_s + point.sd_s for line in figure.series for point in line.points]
    return 1.08 * max(ends + [mark.mean_s for mark in figure.marks]) or 1.0
