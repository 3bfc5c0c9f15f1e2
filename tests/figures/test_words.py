"""Words of figures: what a name may hold that a figure cannot draw."""

from __future__ import annotations

import warnings

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rexmit.present.figures.style import styled
from rexmit.present.figures.words import folded


def test_what_the_font_cannot_draw_is_escaped() -> None:
    with warnings.catch_warnings(), styled():
        warnings.simplefilter("error")
        canvas = Figure()
        FigureCanvasAgg(canvas)
        text = folded(canvas, "Größe ≥ 5 µs of 漢字")
    assert text == r"Größe ≥ 5 µs of \u6f22\u5b57"
