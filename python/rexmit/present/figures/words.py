"""Words of figures, measured before they are drawn: folded lines, and legends that fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import findfont, get_font
from matplotlib.legend import Legend

from rexmit.escaping import escaped, shown
from rexmit.present.figures.style import RC

#: What stays free at both sides together, in inches.
_MARGIN: Final = 0.3
#: A legend of this height fits under any figure; for what is higher the figure grows, in inches.
_LEGEND: Final = 0.45


def plain(text: str) -> str:
    """A line of a figure: of names that somebody else chose nothing is hidden, nothing is a
    formula, and what the font cannot draw is escaped, too."""
    drawn = _drawable()
    seen = re.sub(
        "[^ -~]", lambda one: one[0] if ord(one[0]) in drawn else escaped(one), shown(text)
    )
    return seen.replace("$", r"\$")


@cache
def _drawable() -> frozenset[int]:
    """The characters that the figures' font has."""
    return frozenset(get_font(findfont(RC["font.family"])).get_charmap())


def width(text: str, **font: Any) -> float:  # noqa: ANN401 - of matplotlib's Text
    """How wide words are, in inches; they are as `plain` makes them. Inside `styled`."""
    return _width(text, *font.items())


@lru_cache(maxsize=10_000)
def _width(text: str, *font: tuple[str, Any]) -> float:
    """Figures of one run say much the same."""
    canvas = _ruler()
    drawn = canvas.text(0, 0, text, **dict(font))
    try:
        return drawn.get_window_extent(_renderer(canvas)).width / canvas.dpi
    finally:
        drawn.remove()


@cache
def _ruler() -> Canvas:
    """A figure in which words are measured."""
    canvas = Canvas()
    FigureCanvasAgg(canvas)
    return canvas


def folded(canvas: Canvas, text: str, inches: float | None = None, **font: Any) -> str:  # noqa: ANN401 - of matplotlib's Text
    """The text in lines no wider than so many inches, or than the figure; between words, and within
    a word only where that alone is wider.
    """
    room = canvas.get_figwidth() - _MARGIN if inches is None else inches
    lines: list[str] = []
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width(longer, **font) <= room:
            lines[-1] = longer
            continue
        rest = word
        while len(rest) > 1 and width(rest, **font) > room:
            kept = max(1, int(len(rest) * room / width(rest, **font)))
            kept += rest[:kept].endswith("\\")
            lines.append(rest[:kept])
            rest = rest[kept:]
        lines.append(rest)
    return "\n".join(lines)


def fits(
    ticks: Sequence[tuple[float, str]],
    ends: tuple[float, float],
    inches: float,
) -> bool:
    """Whether the labels of ticks stand apart on an axis with these ends, so many inches wide."""
    step = inches / (ends[1] - ends[0])
    wide = [(at * step, width(plain(text), fontsize=9)) for at, text in sorted(ticks)]
    return all(
        at + half / 2 + _MARGIN / 4 <= after - other / 2
        for (at, half), (after, other) in pairwise(wide)
    )


def legend_below(
    canvas: Canvas, handles: Sequence[Any], labels: Sequence[str], *, small: str = "", most: int = 6
) -> Legend:
    """A legend below the figure, in as many columns as fit, `most` at most; long labels are folded.
    `small` stands above it in small print. The figure grows by what a high legend needs.
    """
    room = canvas.get_figwidth() - _MARGIN
    title = "\n".join(folded(canvas, line, fontsize=7.5) for line in small.split("\n"))
    texts = [folded(canvas, label, room - 0.6, fontsize=8.5) for label in labels]
    for columns in range(min(len(texts), most) or 1, 0, -1):
        legend = canvas.legend(
            handles,
            texts,
            loc="outside lower center",
            ncols=columns,
            title=title or None,
            title_fontsize=7.5,
        )
        box = legend.get_window_extent(_renderer(canvas))
        if box.width / canvas.dpi <= room or columns == 1:
            break
        legend.remove()
    legend.get_title().set_color("#555555")
    legend.get_title().set_multialignment("center")
    extra = box.height / canvas.dpi - _LEGEND
    if extra > 0:
        canvas.set_figheight(canvas.get_figheight() + extra)
    return legend


def _renderer(canvas: Canvas) -> Any:  # noqa: ANN401 - matplotlib's
    assert isinstance(canvas.canvas, FigureCanvasAgg)  # noqa: S101 - all of ours are
    return canvas.canvas.get_renderer()  # type: ignore[no-untyped-call]
