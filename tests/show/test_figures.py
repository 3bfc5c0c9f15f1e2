"""Figures: which there are, their points, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.container import ErrorbarContainer
from scipy.stats import binomtest
from tests.show.conftest import make_row as row_of
from tests.show.conftest import write_folder

import rexmit
from rexmit.analysis.chart import Question, charts
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.present.figures.draw import draw
from rexmit.present.figures.plan import Figure, plan
from rexmit.present.figures.style import RC, looks, styled
from rexmit.present.figures.xaxis import offsets, setting_axis
from rexmit.store.open_run import open_run

Rows = Callable[..., Any]
runner = CliRunner()


def planned(path: Path, **asked: Any) -> list[Figure]:  # noqa: ANN401 - of Question
    """The figures of a run."""
    return plan(charts([open_run(path)], Question(**asked)))


def test_networks_of_like_names_have_figures_of_their_own(row: Rows, write_run: Rows) -> None:
    rows = [row(network=name) for name in ("m x", "m-x", "m-x-2")]
    figures = planned(write_run(rows), x="lost", y="t_total", colour="config", facet=())
    assert [figure.name for figure in figures] == [
        "t-total-by-lost-segments-m-x",
        "t-total-by-lost-segments-m-x-2",
        "t-total-by-lost-segments-m-x-2-2",
    ]
    assert [figure.title for figure in figures] == ["m x", "m-x", "m-x-2"]


def swept(row: Rows, changes: list[dict[str, Any]], losses: tuple[int, ...] = (5,)) -> list[Any]:
    """er and tlp, two transfers each, with every change and number of lost segments."""
    grid = [(change, n, c) for change in changes for n in losses for c in ("er", "tlp")]
    return [
        row(config=c, cell=i, lost_segments=n, repetition=r, is_tlp=c == "tlp") | change
        for i, (change, n, c) in enumerate(grid)
        for r in range(2)
    ]


def test_one_figure_shows_the_whole_grid(campaign: Rows, write_run: Rows) -> None:
    (figure,) = planned(write_run(campaign(2)))
    assert figure.name == "t-total-t-recover-client-by-lost-segments"
    assert figure.x.name == "lost_segments"
    assert figure.labels == ("plain", "er", "tlp")
    assert [[panel.title for panel in row] for row in figure.rows] == [
        [
            "high-speed: 100 Mbit/s, 10 ms RTT",
            "mobile: 7.2 Mbit/s, 100 ms RTT",
            "satellite: 1 Mbit/s, 800 ms RTT",
        ]
    ] * 3
    assert [row[0].column.name for row in figure.rows] == ["t_total_s", "t_recover_s", "client_s"]
    assert not figure.shares_y
    assert all(len(panel.series) == 3 for panel in figure.panels)
    # Four axes: panels to the right and downwards, and a figure for each quantity.
    changes = [
        {"congestion_control": cc, "network": name}
        for cc in ("cubic", "bbr")
        for name in ("high-speed", "mobile")
    ]
    figures = planned(write_run(swept(row_of, changes, (1, 5))))
    assert [(figure.name, len(figure.rows), len(figure.rows[0])) for figure in figures] == [
        ("t-total-by-lost-segments", 2, 2),
        ("t-recover-by-lost-segments", 2, 2),
        ("client-by-lost-segments", 2, 2),
    ]


def five_axes() -> list[Any]:
    """Two values of each."""
    settings = [
        {"congestion_control": cc, "page_segments": page, "network": network}
        for cc in ("cubic", "bbr")
        for page in (10, 100)
        for network in ("high-speed", "mobile")
    ]
    return swept(row_of, settings, (1, 5))


def test_of_more_axes_one_is_asked_for(write_run: Rows) -> None:
    path = write_run(five_axes())
    with pytest.raises(UserError, match="the grid has 5 axes, and a figure shows 4") as caught:
        planned(path)
    assert caught.value.usage
    assert "`x`" in str(caught.value.hint)
    assert "lost_segments: 1, 5" in str(caught.value.hint)
    assert "page_segments: 10, 100" in str(caught.value.hint)
    # Nothing is averaged: what has no place has a figure for each value.
    figures = planned(path, x="workload.segments", y="t_total")
    assert len(figures) == 2
    assert {figure.x.name for figure in figures} == {"page_segments"}
    points = [p for f in figures for panel in f.panels for s in panel.series for p in s.points]
    assert len(points) == 2**5
    assert {point.n for point in points} == {2}
    # With a value chosen the rest fits.
    assert len(planned(path, cells={"network": "mobile"}, y="t_total")) == 1


def test_an_axis_is_named_as_the_scenario_does(write_run: Rows) -> None:
    path = write_run(five_axes())
    (figure,) = planned(
        path,
        x="loss.segments",
        y="t_total_s",
        colour="tcp.congestion_control",
        facet=["network", "page"],
        cells=["config=er"],
    )
    assert figure.labels == ("cubic", "bbr")
    assert figure.name == "t-total-by-lost-segments-er"
    assert [panel.title for panel in figure.rows[1]] == [
        "high-speed: 100 Mbit/s, 10 ms RTT; page of 100 segments",
        "mobile: 7.2 Mbit/s, 100 ms RTT; page of 100 segments",
    ]
    assert figure.notes[0] == "er"


@pytest.mark.parametrize(
    ("asked", "says", "hint"),
    [
        ({"x": "los.segments"}, "there is no axis los.segments", "did you mean loss.segments?"),
        ({"colour": "confg"}, "there is no axis confg", "did you mean config?"),
        ({"facet": "netwrk"}, "there is no axis netwrk", "axes: run, network, config,"),
        ({"y": "t_totl_s"}, "no such column", "did you mean t_total_s? columns: lost_segments,"),
        ({"y": "mechanism"}, "`y` mechanism: the column is of words", "columns: "),
        ({"x": "lost", "facet": "lost"}, "the axis lost_segments twice", "once"),
        ({"facet": ["lost", "network", "config"]}, "to the right and downwards", "one axis or two"),
        ({"x": "page_bytes"}, "no page is given in page_bytes", "there is page_segments"),
        ({"ci": 100}, "`ci=100`", "between 0 and 100"),
        ({"cells": {"network": "moon"}}, "no cell has these values", "network: high-speed, mobile"),
    ],
)
def test_what_is_asked_wrongly(
    write_run: Rows, asked: dict[str, Any], says: str, hint: str
) -> None:
    path = write_run(five_axes())
    with pytest.raises(UserError) as caught:
        planned(path, **asked)
    assert caught.value.usage
    assert says in caught.value.what
    assert hint in str(caught.value.hint)


def test_departures_stand_along_their_own_axis(row: Rows, write_run: Rows) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"page_segments": 10},
        {"page_segments": 1000},
        {"line_loss": 0.01},
        {"congestion_control": "bbr"},
    ]
    path = write_run(swept(row, changes))
    (pages,) = planned(path, x="page_segments", y="t_total")
    assert [len(line.points) for line in pages.panels[0].series] == [3, 3]
    assert pages.notes[0] == "no line loss, cubic"
    assert pages.x.label == "page (segments), log scale"
    (control,) = planned(path, x="congestion_control", y="t_total")
    assert [text for _, text in control.x.ticks or ()] == ["cubic", "bbr"]
    assert control.notes[0] == "no line loss, page of 100 segments"


def test_several_runs_stand_in_one_figure(row: Rows, tmp_path: Path) -> None:
    paths = [
        write_folder(
            tmp_path / name,
            swept(row, [{}], (1, 5)),
            kernel={"version": name, "hz": 250, "patches": []},
        )
        for name in ("6.1", "6.12")
    ]
    runs = [open_run(path) for path in paths]
    (figure,) = plan(charts(runs, Question()))
    assert figure.labels == ("Linux 6.1", "Linux 6.12")
    assert [panel.title for panel in figure.rows[0]] == ["er", "tlp"]
    (along,) = plan(charts(runs, Question(x="run", y="t_total", cells={"lost": 5})))
    assert [text for _, text in along.x.ticks or ()] == ["Linux 6.1", "Linux 6.12"]
    # Two of one kernel are told apart by their folders.
    (alike,) = plan(charts([runs[0], open_run(paths[0])], Question(y="t_total")))
    assert len(alike.labels) == 2
    points = rexmit.plot_points(runs, y="t_total", cells={"lost": 5, "config": "er"})
    assert [one["run"] for one in points] == [str(path) for path in paths]


def test_far_numbers_stand_on_a_logarithmic_axis() -> None:
    decades = setting_axis("page_segments", [10, 100, 1000])
    assert list(decades.places.values()) == pytest.approx([0, 1, 2])
    near = setting_axis("page_segments", [100, 120, 160])
    assert list(near.places.values()) == pytest.approx([0, 1, 3])
    assert "log" not in near.label
    # no logarithm of nothing: it stands apart, and so does what the kernel chooses
    loss = setting_axis("line_loss", [0.0, 0.001, 0.01, 0.1])
    assert loss.places[0.0] < loss.breaks[0] < loss.places[0.001]
    assert [text for _, text in loss.ticks or ()] == ["0%", "0.1%", "1%", "10%"]
    window = setting_axis("receive_window_bytes", [None, 65_536, 1_000])
    assert window.places[1_000] < window.places[65_536] < window.breaks[0] < window.places[None]
    assert [text for _, text in window.ticks or ()] == ["1 kB", "64 KiB", "default"]
    assert setting_axis("line_loss", [0.0, 0.01, 0.02]).breaks == ()


@given(st.lists(st.integers(1, 10**7) | st.none() | st.just(0), min_size=1, unique=True))
def test_any_numbers_have_their_places_in_order(values: list[int | None]) -> None:
    x = setting_axis("receive_window_bytes", values)
    numbers = sorted(value for value in values if value is not None)
    places = [x.places[number] for number in numbers]
    assert places == sorted(set(places))
    assert None not in x.places or x.places[None] >= max(x.places.values())
    assert x.ends[1] - x.ends[0] <= 60
    labelled = [place for place, text in x.ticks or () if text]
    assert len(labelled) <= 13


def test_points_are_means_over_what_show_uses(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", lost_segments=2, repetition=0, t_total_s=1.0, is_tlp=True),
        row(config="tlp", lost_segments=2, repetition=1, t_total_s=2.0, is_tlp=True),
        row(config="tlp", lost_segments=2, repetition=2, t_total_s=9.0, is_tlp=False),
        row(config="tlp", lost_segments=0, cell=1, t_total_s=0.5, t_recover_s=None, is_tlp=None),
    ]
    path = write_run(rows)
    (figure,) = planned(path)
    total, recover, _ = figure.panels
    (line,) = total.series
    assert [(p.at, p.mean, p.n) for p in line.points] == [(0, 0.5, 1), (2, 1.5, 2)]
    # Student's t of one degree of freedom is 12.706.
    assert line.points[1].interval is not None
    half = line.points[1].interval.half
    assert half == pytest.approx(12.7062 * 0.5**0.5 / 2**0.5, rel=1e-4)
    assert line.points[0].interval is None
    assert [p.at for p in recover.series[0].points] == [2]
    assert list(figure.x.places) == [0, 2]
    assert figure.notes[1].endswith(
        "mean and 95 % interval of 1 to 2 transfers each; hollow: of a single "
        "repetition, or seed, which tells none; left out: 1 not-probed"
    )
    (spread,) = planned(path, y="t_total", ci=None)
    interval = spread.panels[0].series[0].points[1].interval
    assert interval is not None
    assert interval.half == pytest.approx(0.5**0.5)
    assert "mean and standard deviation of 1 to 2 transfers" in spread.notes[1]
    data = rexmit.plot_points(open_run(path), y="t_total", ci=90)
    assert [(one["lost_segments"], one["n"], one["mean"]) for one in data] == [
        (2, 2, 1.5),
        (0, 1, 0.5),
    ]
    assert data[0]["low"] == pytest.approx(1.5 - 6.3138 * 0.5, rel=1e-4)
    assert data[0]["left_out"] == {"not-probed": 1}
    assert data[1]["low"] is None


def test_a_share_has_wilsons_interval(row: Rows, write_run: Rows) -> None:
    fin = [True] * 9 + [False]
    rows = [row(repetition=n, fin_on_data=one) for n, one in enumerate(fin)]
    path = write_run(rows)
    for ci in (90.0, 95.0):
        (one,) = rexmit.plot_points(open_run(path), y="fin_on_data", ci=ci)
        wilson = binomtest(9, 10).proportion_ci(ci / 100, method="wilson")
        assert (one["low"], one["mean"], one["high"]) == pytest.approx(
            (wilson.low, 0.9, wilson.high)
        )
    (figure,) = planned(path, y="fin_on_data")
    with styled():
        (axes,) = draw(figure).axes
    (bar,) = axes.containers
    assert isinstance(bar, ErrorbarContainer)
    ((_, low), (_, high)) = bar.lines[2][0].get_segments()[0]
    assert (low, high) == pytest.approx((100 * wilson.low, 100 * wilson.high))


def test_axes_say_what_the_schema_defines(row: Rows, write_run: Rows) -> None:
    path = write_run([row(t_total_s=0.0004, t_recover_s=0.02)])
    (figure,) = planned(path)
    total, recover, client = figure.panels
    assert total.y == "t_total_s: t_end - t_start (ms)"
    assert recover.y == "t_recover_s: t_retransmit - t_drop (ms)"
    assert client.y == "client_s: from connect to end of file at the client (s)"
    assert total.top == pytest.approx(0.4)
    assert figure.notes[-1].startswith(
        "t_end: the last of the dropped data, FIN included, was sent again; t_start: the HTTP "
    )
    (counts,) = planned(path, y=["timeouts", "is_tlp"])
    assert counts.panels[0].y == "timeouts: retransmission timeouts that fired"
    assert counts.panels[1].y.endswith("(% of transfers)")
    (micro,) = planned(write_run([row(t_total_s=0.00004)]), y="t_total")
    assert micro.panels[0].unit == "µs"


def test_no_figure_without_a_point(row: Rows, write_run: Rows) -> None:
    path = write_run([row(lost_segments=0, t_recover_s=None, mechanism=None)])
    (figure,) = planned(path)
    assert [panel.column.name for panel in figure.panels] == ["t_total_s", "client_s"]
    assert planned(path, y="t_recover") == []


@pytest.mark.parametrize("span", [0, 1, 5, 20, 60])
@pytest.mark.parametrize("how_many", range(1, 9))
def test_series_stand_apart_and_stay_with_their_number(how_many: int, span: float) -> None:
    shifts = offsets(how_many, span)
    assert sum(shifts) == pytest.approx(0)
    assert max(map(abs, shifts)) < 0.5
    # of an axis some 390 points wide
    assert all((b - a) / (span + 1.2) * 390 > 0.6 for a, b in pairwise(shifts))


def test_no_two_configurations_look_alike() -> None:
    names = ("plain", "er", "tlp", *(f"x{i}" for i in range(8)))
    found = looks(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(names)


@pytest.mark.parametrize("losses", [range(21), range(6), (5,)])
def test_markers_stand_beside_each_other(
    campaign: Rows, write_run: Rows, losses: Iterable[int]
) -> None:
    (figure,) = planned(write_run(campaign(2, losses)), y="t_total", cells={"network": "mobile"})
    with mpl.rc_context(RC):
        canvas = draw(figure)
        canvas.draw_without_rendering()
    (axes,) = canvas.axes
    low, high = figure.x.ends
    first, second, _ = offsets(3, high - low)
    left, right = (axes.transData.transform((x, 0))[0] for x in (first, second))
    points = (right - left) * 72 / canvas.dpi
    assert RC["lines.markersize"] <= points <= 2.5 * RC["lines.markersize"]


def test_axes_start_at_zero(campaign: Rows, write_run: Rows) -> None:
    (figure,) = planned(write_run(campaign(2)))
    with styled():
        drawn = draw(figure)
    assert len(drawn.axes) == len(figure.panels) == 9
    for axes, panel in zip(drawn.axes, figure.panels, strict=True):
        assert axes.get_ylim()[0] == 0
        assert axes.get_ylim()[1] > panel.top > 0
        assert axes.get_xlim()[0] < offsets(3, 20)[0]
        assert axes.get_xlim()[1] > 20 + offsets(3, 20)[2]


def test_along_numbers_points_are_joined_by_lines_of_their_own(
    campaign: Rows, write_run: Rows
) -> None:
    def dashes(figure: Figure) -> set[str]:
        with styled():
            (axes,) = draw(figure).axes
        return {
            str(line._dash_pattern)  # type: ignore[attr-defined]
            for line in axes.lines
            if line.get_linestyle() != "None" and np.size(line.get_xdata()) > 1
        }

    path = write_run(campaign(2))
    (numbers,) = planned(path, y="t_total", cells={"network": "mobile"})
    assert len(dashes(numbers)) == 3
    (words,) = planned(path, x="network", y="t_total", cells={"lost": 5})
    assert dashes(words) == set()


def test_one_entry_needs_no_legend(row: Rows, write_run: Rows) -> None:
    def legend(path: Path) -> list[str]:
        drawn = rexmit.plot(open_run(path), y="t_total")
        (figure,) = drawn.values()
        return [text.get_text() for one in figure.legends for text in one.get_texts()]

    rows = [row(lost_segments=n, cell=n) for n in (1, 5)]
    assert legend(write_run(rows)) == []
    assert legend(write_run([*rows, *swept(row, [{}])])) == ["er", "tlp"]


@pytest.mark.parametrize("losses", [(5,), (2, 3), (0, 2), (0, 7, 20)])
def test_lost_segments_are_whole(campaign: Rows, write_run: Rows, losses: tuple[int, ...]) -> None:
    path = write_run(campaign(2, losses))
    (figure,) = planned(path, x="lost", y="t_total", cells={"network": "mobile"})
    with styled():
        (axes,) = draw(figure).axes
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    assert all(tick == round(tick) for tick in ticks)
    assert set(losses) <= set(ticks)


@pytest.mark.slow
def test_the_same_bytes_every_time(campaign: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = open_run(write_run(campaign(2)))

    def write(folder: Path) -> list[Path]:
        drawn = rexmit.plot(run, y="t_total", cells={"network": "mobile"})
        return rexmit.save_figures(drawn, folder)

    first = write(tmp_path / "a")
    with mpl.rc_context({"font.size": 30, "lines.markersize": 30}):
        second = write(tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"CreationDate" not in first[0].read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "t-total-by-lost-segments-mobile.pdf",
        "t-total-by-lost-segments-mobile.png",
    ]


def test_plot_prints_the_paths(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = write_run([row(lost_segments=n, cell=n) for n in (1, 5)])
    words = ["plot", str(run), "--format", "png,svg"]
    result = runner.invoke(app, words, catch_exceptions=False)
    paths = [Path(line) for line in result.output.splitlines()]
    name = "t-total-t-recover-client-by-lost-segments"
    assert paths == [run / "figures" / f"{name}.{ending}" for ending in ("png", "svg")]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in paths[1].read_text()
    out = tmp_path / "deep" / "er"
    argv = ["plot", str(run), str(run), "--out", str(out), "--format", "pdf", "--json"]
    argv += ["--x", "loss.segments", "--y", "t_total_s", "--ci", "90", "--losses", "5"]
    data = json.loads(runner.invoke(app, argv, catch_exceptions=False).output)
    assert data["figures"] == [str(out / "t-total-by-lost-segments.pdf")]
    assert [(one["lost_segments"], one["mean"], one["n"]) for one in data["points"]] == [
        (5, 0.3, 1)
    ] * 2


def test_errors(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = write_run([row()])
    for wrong in ("gif", "", "png,gif"):
        with pytest.raises(UserError, match="--format") as caught:
            runner.invoke(app, ["plot", str(run), "--format", wrong], catch_exceptions=False)
        assert caught.value.usage
        assert caught.value.hint == "of pdf, png, svg, by commas"
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(UserError, match="cannot be written"):
        runner.invoke(app, ["plot", str(run), "--out", str(file)], catch_exceptions=False)
    empty = write_run([row(complete=False)])
    with pytest.raises(UserError, match="no transfer"):
        runner.invoke(app, ["plot", str(empty)], catch_exceptions=False)


def test_a_run_prints_as_a_short_table(campaign: Rows, write_run: Rows) -> None:
    run = open_run(write_run(campaign(2), name="a <b>"))
    lines = repr(run).splitlines()
    assert str(run) == repr(run)
    assert len(repr(run)) < 600
    assert lines[0].split() == ["run", str(run.path)]
    assert "config         plain, er, tlp" in lines
    assert "lost_segments  0..20" in lines
    assert "size           378 transfers in 189 cells" in lines
    assert "<td style='text-align: left'>a &lt;b&gt;: a test</td>" in run._repr_html_()
