"""Figures tell things apart without colours, and what is alone needs no key."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tests.figures.layout import troubles
from tests.steps import PLAIN

import rexmit
from rexmit.ladder.draw import Panel, draw_ladders
from rexmit.present.figures.bursts import _colours
from rexmit.present.figures.style import looks, styled
from rexmit_papers.library.study import UncStudy
from rexmit_papers.unc_2007 import recoveries
from rexmit_papers.unc_2007.tables import Recovery


def recovery(sack: tuple[bool, ...]) -> Figure:
    """Of episodes with so many kinds of connection."""
    rows = [
        Recovery(sack=kind, lost=lost, episodes=40, median_s=0.2, median_rtts=2.0, p95_rtts=4.0)
        for kind, lost in product(sack, range(1, 6))
    ]
    with styled():
        figure = Figure(figsize=(6.3, 3.9), layout="constrained")
        FigureCanvasAgg(figure)
        recoveries.draw(figure, rows)
        assert troubles(figure) == []
    return figure


@pytest.mark.parametrize("sack", [(True,), (False,), (True, False)])
def test_bars_stand_above_their_labels_and_within_the_axes(sack: tuple[bool, ...]) -> None:
    (axes,) = recovery(sack).axes
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in axes.patches]  # type: ignore[attr-defined]
    ticks = axes.get_xticks()
    for number in ticks:
        mine = [x for bar in bars for x in bar if abs(x - number) < 0.5]
        assert (min(mine) + max(mine)) / 2 == pytest.approx(number)
    low, high = axes.get_xlim()
    assert low + 0.4 < min(ticks) < max(ticks) < high - 0.4
    counts = [text.get_text() for text in axes.get_xticklabels(minor=True)]
    assert counts == ["n = 40"] * len(bars)


def test_a_kind_that_is_alone_has_no_key() -> None:
    def keys(figure: Figure) -> list[str]:
        return [text.get_text() for one in figure.legends for text in one.get_texts()]

    alone = recovery((True,))
    assert keys(alone) == []
    assert alone.legends[0].get_title().get_text().startswith("with SACK; bars: median")
    assert keys(recovery((True, False))) == ["with SACK", "without SACK"]


def test_systems_have_markers(four: UncStudy) -> None:
    drawn = rexmit.paper_figures(four)["figure-2"]
    (axes,) = drawn.axes
    looks_of = {
        (line.get_marker(), str(line.get_linestyle())): line.get_color() for line in axes.lines
    }
    assert len(looks_of) == len(axes.lines)


def test_lines_and_bars_differ_in_more_than_colour() -> None:
    names = tuple(f"config-{place}" for place in range(4))
    found = looks(names)
    assert len({one.marker for one in found.values()}) == len(names)
    assert len({str(one.dash) for one in found.values()}) == len(names)
    assert len({hatch for _, hatch in _colours(names).values()}) == len(names)


STEP = replace(
    PLAIN, sent_ns=0, arrived_ns=10_000_000, payload_bytes=1448, seq=1, ack=1, window=1000
)


def test_a_ladder_tells_kinds_apart_and_cuts_no_label() -> None:
    far = 4_000_000_000
    steps = [
        STEP,
        replace(STEP, sent_ns=40_000_000, arrived_ns=None, lost=True),
        replace(STEP, seq=far, sent_ns=90_000_000, arrived_ns=99_000_000, mechanism="rto-recovery"),
        replace(
            STEP,
            from_server=False,
            payload_bytes=0,
            sent_ns=60_000_000,
            arrived_ns=70_000_000,
            ack=far,
            sack=tuple((far + n, far + n + 1448) for n in (10_000, 20_000, 30_000, 40_000)),
        ),
        replace(
            STEP, from_server=False, payload_bytes=0, sent_ns=20_000_000, arrived_ns=30_000_000
        ),
    ]
    panel = Panel("one", tuple(steps), acknowledgements=True)
    figure = draw_ladders([panel, panel], "two")
    with styled():
        assert troubles(figure) == []
        # Every label stands beside its own ladder.
        for axes in figure.axes:
            for text in axes.texts:
                if text.get_text():
                    box = text.get_window_extent()
                    assert axes.bbox.x0 <= box.x0
                    assert box.x1 <= axes.bbox.x1
    (legend,) = figure.legends
    dashes: set[Any] = {str(handle._dash_pattern) for handle in legend.get_lines()}  # type: ignore[attr-defined]
    assert len(legend.get_texts()) == 5
    # What is lost has a cross besides.
    assert len(dashes) == 4
    crosses = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "x"]
    assert len(crosses) == 2
