"""The study's figures: small groups, the slope of 1, what lies beyond an axis, colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from tests.figures.conftest import TWO_OF_NONE
from tests.study.test_study import lossy
from tests.trace.rows import mechanism, write_trace

import rexmit
from rexmit.present.figures.style import styled
from rexmit_papers.library.study import UncStudy
from rexmit_papers.unc_2007.colours import SYSTEMS, of_trace
from rexmit_papers.unc_2007.curves import Bin, Bins, curve
from rexmit_papers.unc_2007.distributions import LEAST, Distribution, distribution
from rexmit_papers.unc_2007.reductions import FEW, MarkedGroup, Reductions, reductions
from rexmit_papers.unc_2007.reductions import draw as draw_reductions


def legend(figure: Figure) -> list[str]:
    """All that legends say, of the figure and of its panels."""
    every = [*figure.legends, *(one for axes in figure.axes if (one := axes.get_legend()))]
    return [text.get_text() for one in every for text in (*one.get_texts(), one.get_title())]


def lines(figure: Figure) -> list[str]:
    """What is drawn, by label."""
    return [str(line.get_label()) for axes in figure.axes for line in axes.lines]


def test_a_group_of_two_connections_draws_nothing_and_is_told(four: UncStudy) -> None:
    assert four.senders.filter(pl.col("system") == "RFC").height == TWO_OF_NONE
    drawn = rexmit.paper_figures(four)
    for name in ("figure-2", "figure-3", "figure-6", "figure-7"):
        told = "\n".join(legend(drawn[name]))
        assert not any(label.startswith("RFC") for label in lines(drawn[name])), name
        assert f"not drawn, fewer than {LEAST} " in told
        assert "RFC" in told
    assert f"RFC ({TWO_OF_NONE})" in "\n".join(legend(drawn["figure-3"]))
    assert len(drawn["figure-7"].axes) == len(SYSTEMS) - 1
    assert "figure-4-rfc" not in drawn
    why = f"figure-4-rfc: no group has {LEAST} connections; the largest has {TWO_OF_NONE}"
    assert why in four.missing


def test_legends_say_how_many(four: UncStudy) -> None:
    drawn = rexmit.paper_figures(four)
    of_linux = four.study.explained.filter(system="Linux").height
    assert f"Linux (n = {of_linux})" in legend(drawn["figure-3"])
    assert f"k=2 (n = {of_linux})" in legend(drawn["figure-4-linux"])


@pytest.mark.parametrize(("n", "is_drawn"), [(LEAST - 1, False), (LEAST, True)])
def test_a_distribution_needs_enough_values(n: int, is_drawn: bool) -> None:
    made = distribution(
        [curve("Linux", pl.Series([1.0] * 99)), curve("Windows", pl.Series([1.0] * n))],
        *("title", "bytes", "connection"),
    )
    assert isinstance(made, Distribution)
    assert [one.label for one in made.curves] == ["Linux", "Windows"][: 1 + is_drawn]
    assert ("Windows" in made.told) != is_drawn


def test_why_nothing_is_drawn() -> None:
    few = [curve("Linux", pl.Series([1.0, 2.0])), curve("RFC", pl.Series([], dtype=pl.Float64))]
    words = ("title", "bytes", "connection")
    assert distribution(few, *words) == f"no group has {LEAST} connections; the largest has 2"
    assert distribution(few[1:], *words) == "no connection has what it shows"


def test_what_lies_beyond_an_axis_is_counted() -> None:
    values = pl.Series([*([50.0] * 27), 101.0, 180.0, -3.0])
    made = distribution([curve("Linux", values)], "title", "percent", "connection", limits=(0, 100))
    assert isinstance(made, Distribution)
    assert made.told == "beyond the axis: 3 connections"
    within = distribution([curve("Linux", values)], "title", "percent", "connection")
    assert isinstance(within, Distribution)
    assert within.told == ""


def test_the_line_with_a_slope_of_1_is_straight(four: UncStudy) -> None:
    drawn = {
        name: figure
        for name, figure in rexmit.paper_figures(four).items()
        if name.startswith(("figure-4", "figure-5", "figure-7"))
    }
    assert len(drawn) == 9
    for name, figure in drawn.items():
        for axes in figure.axes:
            straight(name, axes)


def straight(name: str, axes: Any) -> None:  # noqa: ANN401 - matplotlib's
    """Points with x = y, as far as the axes reach, stand on one line of the picture."""
    high = axes.get_xlim()[1]
    values = np.array([0, 0.05, 0.3, 0.9, 1, 1.1, 3, 10, 0.9 * high])
    places = axes.transData.transform(np.column_stack([values, values]))
    first, last = places[0], places[-1]
    along = (last - first) / np.linalg.norm(last - first)
    off = (places - first) @ np.array([-along[1], along[0]])
    assert np.abs(off).max() < 0.01, name
    (best,) = [line for line in axes.lines if str(line.get_label()).startswith("Best-Case")]
    xs, ys = best.get_data()
    assert list(xs) == list(ys), name


def test_marks_of_few_connections_are_open() -> None:
    made = reductions(
        "title",
        [
            [
                MarkedGroup(
                    "Linux", Bins("k=2", (Bin(2.0, 1.0, 1.5, FEW - 1), Bin(8.0, 3.0, 4.0, 60)), 0)
                )
            ]
        ],
    )
    assert isinstance(made, Reductions)
    assert f"open: fewer than {FEW} connections" in made.told
    with styled():
        figure = Figure()
        FigureCanvasAgg(figure)
        draw_reductions(figure, made)
    open_marks = [
        line.get_xdata()
        for line in figure.axes[0].lines
        if line.get_marker() == "o" and to_hex(line.get_markerfacecolor()) == "#ffffff"
    ]
    assert [np.asarray(xs).tolist() for xs in open_marks] == [[2.0]]


def test_a_system_has_one_colour_and_a_trace_none_of_them(four: UncStudy) -> None:
    drawn = rexmit.paper_figures(four)
    for name, figure in drawn.items():
        for axes in figure.axes:
            for line in axes.lines:
                label = str(line.get_label()).partition(" ")[0]
                named = [one for one in SYSTEMS if name.endswith(f"-{one.lower()}")]
                if label in SYSTEMS:
                    assert line.get_color() == SYSTEMS[label], name
                elif named and line.get_marker() in ("o", "s"):
                    assert line.get_color() == SYSTEMS[named[0]], name
    traces = [(line.get_color(), line.get_linestyle()) for line in drawn["figure-1"].axes[0].lines]
    assert len(set(traces)) == 4
    assert not {colour for colour, _ in traces} & (set(SYSTEMS.values()) - {"#000000"})
    assert len({of_trace(place) for place in range(16)}) == 16


def test_a_trace_without_enough_has_no_figures(tmp_path: Path) -> None:
    trace = write_trace(
        tmp_path / "bare", connections=[lossy(0, "linux-6")], mechanisms=[mechanism(needed=1)]
    )
    made = rexmit.study([trace])
    assert rexmit.paper_figures(made) == {}
    assert f"figure-1: no group has {LEAST} connections; the largest has 1" in made.missing
