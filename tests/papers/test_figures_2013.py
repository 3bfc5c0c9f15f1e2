"""Figures 4 and 5 of Ryll 2013 of a run: which there are, and what is marked in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.show.test_figures import swept

from rexmit.errors import UserError
from rexmit.present.figures.plan import Figure, Mark
from rexmit.store.open_run import open_run
from rexmit_papers.ryll_2013.figures import number_of, plan

Rows = Callable[..., Any]


def of(figure: Figure) -> tuple[object, str]:
    """The network that it is of, and the column."""
    (panel,) = figure.panels
    return panel.at["network"], panel.column.name


def marks(figure: Figure) -> tuple[Mark, ...]:
    """What is marked in it."""
    return tuple(mark for panel in figure.panels for mark in panel.marks)


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
    assert (of(by_name["figure-4"]), of(by_name["figure-5b"])) == (
        ("high-speed", "t_recover_s"),
        ("mobile", "t_total_s"),
    )
    assert [number_of(figure) for figure in figures] == ["4", "5a", "5b", "5c", None, None]


def test_a_network_set_otherwise_is_not_the_papers(row: Rows, write_run: Rows) -> None:
    scenario = {"networks": {"high-speed": {"rate": "1Gbit", "delay": "2.5ms"}}}
    figures = plan(open_run(write_run([row()], scenario=scenario)))
    assert [f.name for f in figures] == ["t-recover-high-speed", "t-total-high-speed"]
    assert not any(map(marks, figures))


def test_swept_settings_have_figures_of_their_own(row: Rows, write_run: Rows) -> None:
    changes = [{"congestion_control": cc} for cc in ("cubic", "bbr")]
    figures = plan(open_run(write_run(swept(row, changes, (1, 5)))))
    assert [f.name for f in figures] == [
        "figure-4-cubic",
        "figure-4-bbr",
        "figure-5a-cubic",
        "figure-5a-bbr",
    ]
    assert [bool(marks(f)) for f in figures] == [True, False, True, False]
    assert [f.notes[0] for f in figures] == ["cubic", "bbr", "cubic", "bbr"]


def test_the_papers_mean_stands_where_the_setting_is_the_papers(row: Rows, write_run: Rows) -> None:
    rows = swept(row, [{"receive_window_bytes": window} for window in (8_000, 32_000, None)])
    _, total = plan(open_run(write_run(rows)))
    assert number_of(total) is None
    assert [(m.label, m.at) for m in marks(total)] == [
        ("er", total.x.places[None]),
        ("tlp", total.x.places[None]),
    ]
    run = open_run(write_run(swept(row, [{"page_segments": n} for n in (10, 100)], (2, 5))))
    assert not any(map(marks, plan(run, 2)))


def test_with_one_number_of_losses_the_setting_is_the_axis(row: Rows, write_run: Rows) -> None:
    rows = swept(row, [{"receive_window_bytes": window} for window in (8_000, 32_000, None)])
    recover, total = plan(open_run(write_run(rows)))
    assert (recover.name, total.name) == (
        "t-recover-high-speed-by-receive-window",
        "t-total-high-speed-by-receive-window",
    )
    assert total.notes[0] == "5 lost segments"
    assert total.x.label == "receive window"
    assert [text for _, text in total.x.ticks or ()] == ["8 kB", "32 kB", "default"]
    er, tlp = total.panels[0].series
    assert [p.at for p in er.points] == [p.at for p in tlp.points]
    assert [p.n for p in er.points] == [2, 2, 2]


def test_losses_chooses_what_a_setting_is_drawn_for(row: Rows, write_run: Rows) -> None:
    changes = [{"page_segments": n} for n in (10, 100, 1000)]
    run = open_run(write_run(swept(row, changes, (2, 5))))
    assert all(f.x.name == "lost_segments" for f in plan(run))
    recover, _ = plan(run, 2)
    assert recover.name == "t-recover-high-speed-by-page-segments"
    assert recover.notes[0] == "2 lost segments"
    with pytest.raises(UserError, match="no transfer with 3 lost segments"):
        plan(run, 3)
    plain = open_run(write_run(swept(row, [{}], (2, 5))))
    with pytest.raises(UserError, match="the run varies none") as caught:
        plan(plain, 2)
    assert caught.value.usage


def test_one_setting_at_a_time_has_a_figure_an_axis(row: Rows, write_run: Rows) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"page_segments": 10},
        {"page_segments": 1000},
        {"line_loss": 0.01},
        {"congestion_control": "bbr"},
    ]
    figures = [f for f in plan(open_run(write_run(swept(row, changes)))) if "total" in f.name]
    assert {f.name: len(f.panels[0].series[0].points) for f in figures} == {
        "t-total-high-speed-by-page-segments": 3,
        "t-total-high-speed-by-line-loss": 2,
        "t-total-high-speed-by-congestion-control": 2,
    }


def test_of_two_crossed_settings_one_is_held(row: Rows, write_run: Rows) -> None:
    changes = [
        {"page_segments": n, "congestion_control": cc} for n in (10, 100) for cc in ("cubic", "bbr")
    ]
    figures = [f for f in plan(open_run(write_run(swept(row, changes)))) if "total" in f.name]
    assert [(f.name, f.notes[0]) for f in figures] == [
        ("t-total-high-speed-by-page-segments-cubic", "5 lost segments, cubic"),
        ("t-total-high-speed-by-page-segments-bbr", "5 lost segments, bbr"),
        (
            "t-total-high-speed-by-congestion-control-page-segments-10",
            "5 lost segments, page of 10 segments",
        ),
        (
            "t-total-high-speed-by-congestion-control-page-segments-100",
            "5 lost segments, page of 100 segments",
        ),
    ]
