"""Figures 4 and 5 of Ryll 2013 of a run: which there are, and what is marked in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.show.test_figures import swept

from rexmit.store.open_run import open_run
from rexmit_papers.ryll_2013.figures import number_of, plan

Rows = Callable[..., Any]


def test_the_papers_figures_come_first(campaign: Rows, write_run: Rows) -> None:
    figures = plan(open_run(write_run(campaign(2))))
    assert [figure.name for figure in figures] == [
        "figure-4",
        "figure-5a",
        "figure-5b",
        "figure-5c",
        "t-recover-mobile",
        "t-recover-satellite",
    ]
    by_name = {figure.name: figure for figure in figures}
    assert (by_name["figure-4"].network, by_name["figure-4"].measure) == ("high-speed", "t_recover")
    assert [number_of(figure) for figure in figures] == ["4", "5a", "5b", "5c", None, None]
    assert (by_name["figure-5b"].network, by_name["figure-5b"].measure) == ("mobile", "t_total")


def test_a_network_set_otherwise_is_not_the_papers(row: Rows, write_run: Rows) -> None:
    scenario = {"networks": {"high-speed": {"rate": "1Gbit", "delay": "2.5ms"}}}
    figures = plan(open_run(write_run([row()], scenario=scenario)))
    assert [f.name for f in figures] == ["t-recover-high-speed", "t-total-high-speed"]
    assert all(not figure.marks for figure in figures)


def test_swept_settings_have_figures_of_their_own(row: Rows, write_run: Rows) -> None:
    changes = [{"congestion_control": cc} for cc in ("cubic", "bbr")]
    figures = plan(open_run(write_run(swept(row, changes, (1, 5)))))
    assert [f.name for f in figures] == [
        "figure-4-cubic",
        "figure-4-bbr",
        "figure-5a-cubic",
        "figure-5a-bbr",
    ]
    assert [bool(f.marks) for f in figures] == [True, False, True, False]
    assert [f.subtitles[0] for f in figures] == ["cubic", "bbr", "cubic", "bbr"]


def test_the_papers_mean_stands_where_the_setting_is_the_papers(row: Rows, write_run: Rows) -> None:
    rows = swept(row, [{"receive_window_bytes": window} for window in (8_000, 32_000, None)])
    _, total = plan(open_run(write_run(rows)))
    assert number_of(total) is None
    assert [(m.config, m.at) for m in total.marks] == [
        ("er", total.x.places[None]),
        ("tlp", total.x.places[None]),
    ]
    run = open_run(write_run(swept(row, [{"page_segments": n} for n in (10, 100)], (2, 5))))
    assert not any(figure.marks for figure in plan(run, 2))
