"""Figures of the 2017 study: nothing lies over anything else, and nothing beyond the edge."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from rexmit.analysis.bursts import cases
from rexmit.present.figures import bursts
from rexmit.present.figures.style import RC, looks, styled
from rexmit.store.open_run import open_run
from rexmit_papers.probe_or_wait_2017 import figures
from rexmit_papers.probe_or_wait_2017.paper import LOSSES

WriteStudy = Callable[..., Path]


def _words(canvas: Any) -> list[Any]:  # noqa: ANN401 - matplotlib's
    found = [canvas._suptitle, *canvas.legends]
    for axes in canvas.axes:
        found += [axes.title, axes.xaxis.label, *axes.get_xticklabels()]
    return found


@pytest.mark.parametrize("pairs", [{(20, 30)}, {(20, 30), (120, 20)}, None])
@pytest.mark.parametrize("losses", [1, 2, 3])
def test_words_stand_apart_and_within_the_figure(
    write_study: WriteStudy, pairs: set[tuple[int, int]] | None, losses: int
) -> None:
    wanted = list(LOSSES)[:losses]

    def time(_config: str, pair: tuple[int, int], loss: str) -> float | None:
        return 0.3 if loss in wanted and (pairs is None or pair in pairs) else None

    run = open_run(write_study(time))
    found = cases(run, keep_inexact=False)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(RC)
        for figure in figures.plan(run, found):
            canvas = bursts._draw(figure, found)
            canvas.draw_without_rendering()
            boxes = [word.get_window_extent() for word in _words(canvas)]
            assert not [box for box in boxes if box.x0 < 0 or box.x1 > canvas.bbox.x1]
            assert not [pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])]


def test_no_authors_bar_lies_beyond_the_axis(write_study: WriteStudy) -> None:
    run = open_run(write_study(lambda *_: 0.1))
    found = cases(run)
    with styled():
        drawn = dict(bursts.draw(figures.plan(run, found), found))
    tops = [
        (height, axes.get_ylim()[1])
        for canvas in drawn.values()
        for axes in canvas.axes
        for marks in axes.collections
        if marks.get_label() == "the authors' bar"
        for (_, height), _ in marks.get_segments()  # type: ignore[attr-defined]
    ]
    assert len(tops) > 20
    assert max(height for height, _ in tops) > 1
    assert all(height < top for height, top in tops)


def test_no_two_bars_of_a_group_look_alike() -> None:
    names = (*(f"x{place}" for place in range(16)), "tcp-rto", "mptcp-tlp", "er")
    found = bursts._colours(names)
    assert len(set(found.values())) == len(names)
    assert found["mptcp-tlp"][0] == looks(("mptcp-tlp",))["mptcp-tlp"].colour
