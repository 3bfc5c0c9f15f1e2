"""What holds of every figure: nothing is cut off, and no words lie over other words or data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

#: Pixels of 100 to the inch by which boxes of letters may lie over each other: they have margins.
_SLACK = 1.5


def troubles(figure: Figure) -> list[str]:
    """What is wrong, a sentence each; nothing where all is well."""
    figure.draw_without_rendering()
    words = list(_words(figure))
    return [*_cut_off(figure, words), *_over_words(words), *_over_data(figure), *_empty(figure)]


def _words(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Everything written, with its place; of axes only the ticks within their ends."""
    hidden = {id(text) for axes in figure.axes for text in _out_of_view(axes)}
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            box = text.get_window_extent()
            if box.width and box.height:
                yield text.get_text(), box


def _out_of_view(axes: Axes) -> Iterator[Text]:
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        room = (high - low) * 1e-6
        for minor in (False, True):
            ticks = axis.get_minor_ticks() if minor else axis.get_major_ticks()
            for tick in ticks:
                shown = low - room <= tick.get_loc() <= high + room
                if not shown or not tick.label1.get_visible():
                    yield tick.label1
                yield tick.label2
        # A hidden axis of panels that share one.
        if not axis.get_visible():
            yield from axis.get_ticklabels()


def _cut_off(figure: Figure, words: list[tuple[str, Bbox]]) -> Iterator[str]:
    whole = figure.bbox
    for text, box in [
        *words,
        *(("legend", legend.get_window_extent()) for legend in _legends(figure)),
    ]:
        if (
            box.x0 < whole.x0 - _SLACK
            or box.x1 > whole.x1 + _SLACK
            or box.y0 < whole.y0 - _SLACK
            or box.y1 > whole.y1 + _SLACK
        ):
            yield f"cut off: {text!r}, {box} of {whole}"


def _over_words(words: list[tuple[str, Bbox]]) -> Iterator[str]:
    for (one, a), (other, b) in combinations(words, 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        if wide > _SLACK and high > _SLACK:
            yield f"over each other: {one!r} and {other!r}"


def _over_data(figure: Figure) -> Iterator[str]:
    for legend in _legends(figure):
        box = legend.get_window_extent()
        for axes in figure.axes:
            if min(box.y1, axes.bbox.y1) - max(box.y0, axes.bbox.y0) > _SLACK and box.overlaps(
                axes.bbox
            ):
                yield f"a legend over data: {[text.get_text() for text in legend.get_texts()]}"


def _empty(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if not axes.has_data():
            yield "axes without data"
        for axis in (axes.xaxis, axes.yaxis):
            labelled = [t for t in axis.get_ticklabels(which="both") if t.get_text().strip()]
            has = axis.get_tick_params(which="major")
            if has.get("labelleft", True) and has.get("labelbottom", True) and not labelled:
                yield f"no ticks to read: {axis.axis_name}"


def _legends(figure: Figure) -> list[Any]:
    return [
        *figure.legends,
        *(legend for axes in figure.axes if (legend := axes.get_legend()) is not None),
    ]
