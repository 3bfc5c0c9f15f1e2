"""Figures: which there are, their points, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.present.figures.draw import draw
from rexmit.present.figures.plan import plan
from rexmit.present.figures.series import offsets
from rexmit.present.figures.style import RC, looks
from rexmit.present.figures.xaxis import setting_axis
from rexmit.store.open_run import open_run

Rows = Callable[..., Any]
runner = CliRunner()


def test_no_two_figures_have_one_name(row: Rows, write_run: Rows) -> None:
    rows = [row(network=name) for name in ("m x", "m-x", "m-x-2")]
    names = [f.name for f in plan(open_run(write_run(rows)))]
    assert sorted(names) == [
        "t-recover-m-x",
        "t-recover-m-x-2",
        "t-recover-m-x-2-2",
        "t-total-m-x",
        "t-total-m-x-2",
        "t-total-m-x-2-2",
    ]


def test_other_networks_are_named(row: Rows, write_run: Rows) -> None:
    rows = [row(network="my lab/2")]
    assert [f.name for f in plan(open_run(write_run(rows)))] == [
        "t-recover-my-lab-2",
        "t-total-my-lab-2",
    ]


def swept(row: Rows, changes: list[dict[str, Any]], losses: tuple[int, ...] = (5,)) -> list[Any]:
    """er and tlp, two transfers each, with every change and number of lost segments."""
    grid = [(change, n, c) for change in changes for n in losses for c in ("er", "tlp")]
    return [
        row(config=c, cell=i, lost_segments=n, repetition=r, is_tlp=c == "tlp") | change
        for i, (change, n, c) in enumerate(grid)
        for r in range(2)
    ]


def test_swept_settings_have_figures_of_their_own(row: Rows, write_run: Rows) -> None:
    changes = [{"congestion_control": cc} for cc in ("cubic", "bbr")]
    figures = plan(open_run(write_run(swept(row, changes, (1, 5)))))
    assert [f.name for f in figures] == [
        "t-recover-high-speed-cubic",
        "t-total-high-speed-cubic",
        "t-recover-high-speed-bbr",
        "t-total-high-speed-bbr",
    ]
    assert [f.subtitles[0] for f in figures] == ["cubic", "cubic", "bbr", "bbr"]
    assert not any(f.marks for f in figures)


def test_with_one_number_of_losses_the_setting_is_the_axis(row: Rows, write_run: Rows) -> None:
    windows = [8_000, 32_000, None]
    rows = swept(row, [{"receive_window_bytes": window} for window in windows])
    recover, total = plan(open_run(write_run(rows)))
    assert (recover.name, total.name) == (
        "t-recover-high-speed-by-receive-window",
        "t-total-high-speed-by-receive-window",
    )
    assert total.subtitles[0] == "5 lost segments"
    assert total.x.label == "receive window"
    assert [text for _, text in total.x.ticks or ()] == ["8 kB", "32 kB", "default"]
    er, tlp = total.series
    assert [p.at for p in er.points] == [p.at for p in tlp.points]
    assert [p.at for p in er.points] == [total.x.places[window] for window in windows]
    assert [p.n for p in er.points] == [2, 2, 2]


def test_losses_chooses_what_a_setting_is_drawn_for(row: Rows, write_run: Rows) -> None:
    changes = [{"page_segments": n} for n in (10, 100, 1000)]
    run = open_run(write_run(swept(row, changes, (2, 5))))
    assert all(f.x.name == "lost_segments" for f in plan(run))
    recover, _ = plan(run, 2)
    assert recover.name == "t-recover-high-speed-by-page-segments"
    assert recover.x.label == "page (segments), log scale"
    assert recover.subtitles[0] == "2 lost segments"
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
    figures = [f for f in plan(open_run(write_run(swept(row, changes)))) if f.measure == "t_total"]
    assert {f.name: len(f.series[0].points) for f in figures} == {
        "t-total-high-speed-by-page-segments": 3,
        "t-total-high-speed-by-line-loss": 2,
        "t-total-high-speed-by-congestion-control": 2,
    }
    assert figures[1].subtitles[0] == "5 lost segments, page of 100 segments, cubic"


def test_of_two_crossed_settings_one_is_held(row: Rows, write_run: Rows) -> None:
    changes = [
        {"page_segments": n, "congestion_control": cc} for n in (10, 100) for cc in ("cubic", "bbr")
    ]
    figures = [f for f in plan(open_run(write_run(swept(row, changes)))) if f.measure == "t_total"]
    assert [(f.name, f.subtitles[0]) for f in figures] == [
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
    assert all(len(f.series[0].points) == 2 for f in figures)


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
    recover, total = plan(open_run(write_run(rows)))
    (line,) = total.series
    assert [(p.at, p.mean_s, p.n) for p in line.points] == [(0, 0.5, 1), (2, 1.5, 2)]
    assert line.points[1].sd_s == pytest.approx(0.5**0.5)
    assert line.points[0].sd_s == 0
    assert [p.at for p in recover.series[0].points] == [2]
    assert recover.x == total.x
    assert list(total.x.places) == [0, 2]
    assert total.subtitles[-1].endswith(
        "mean and standard deviation of 1 to 2 transfers; left out: 1 not-tlp"
    )


def test_no_figure_without_a_point(row: Rows, write_run: Rows) -> None:
    run = write_run([row(lost_segments=0, t_recover_s=None, mechanism=None)])
    assert [f.name for f in plan(open_run(run))] == ["t-total-high-speed"]


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
    figure = plan(open_run(write_run(campaign(2, losses))))[1]
    with mpl.rc_context(RC):
        canvas = draw(figure)
        canvas.draw_without_rendering()
    (axes,) = canvas.axes
    low, high = figure.x.ends
    first, second, _ = offsets(3, high - low)
    left, right = (axes.transData.transform((x, 0))[0] for x in (first, second))
    points = (right - left) * 72 / canvas.dpi
    assert RC["lines.markersize"] <= points <= 2.5 * RC["lines.markersize"]


def test_nothing_is_written_beyond_the_picture(row: Rows, write_run: Rows) -> None:
    """Long titles are folded, and stand above the axes without covering each other."""
    figure = replace(
        plan(open_run(write_run([row()])))[0],
        title="a network with a long name, " * 4,
        subtitles=("what it varies, " * 12, "where it comes from, " * 9),
    )
    with mpl.rc_context(RC):
        canvas = draw(figure)
        canvas.draw_without_rendering()
        (axes,) = canvas.axes
        (small,) = axes.texts
        title, below = (text.get_window_extent() for text in (_left_title(axes), small))
    for box in (title, below):
        assert box.x0 >= 0
        assert box.x1 <= canvas.bbox.x1
        assert box.y1 <= canvas.bbox.y1
    assert title.y0 >= below.y1
    assert below.y0 >= axes.bbox.y1


def _left_title(axes: Any) -> Any:  # noqa: ANN401 - matplotlib keeps it to itself
    return axes._left_title


def test_axes_start_at_zero_and_have_units(campaign: Rows, write_run: Rows) -> None:
    figure = plan(open_run(write_run(campaign(2))))[0]
    (axes,) = draw(figure).axes
    tops = [p.mean_s + p.sd_s for s in figure.series for p in s.points]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > max(tops)
    assert axes.get_xlim()[0] < offsets(3, 20)[0]
    assert axes.get_xlim()[1] > 20 + offsets(3, 20)[2]
    assert "(s)" in axes.get_ylabel()
    assert "segments" in axes.get_xlabel()


@pytest.mark.parametrize("losses", [(5,), (2, 3), (0, 2), (0, 7, 20)])
def test_lost_segments_are_whole(campaign: Rows, write_run: Rows, losses: tuple[int, ...]) -> None:
    (axes,) = draw(plan(open_run(write_run(campaign(2, losses))))[1]).axes
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
    assert all(tick == round(tick) for tick in ticks)
    assert len(losses) > 2 or set(losses) <= set(ticks)


@pytest.mark.slow
def test_the_same_bytes_every_time(campaign: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = open_run(write_run(campaign(2)))

    def write(folder: Path) -> list[Path]:
        drawn = rexmit.figures(run)
        return rexmit.save_figures({"t-total-mobile": drawn["t-total-mobile"]}, folder)

    first = write(tmp_path / "a")
    with mpl.rc_context({"font.size": 30, "lines.markersize": 30}):
        second = write(tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"CreationDate" not in first[0].read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "t-total-mobile.pdf",
        "t-total-mobile.png",
    ]


def test_plot_prints_the_paths(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = write_run([row()])
    result = runner.invoke(app, ["plot", str(run), "--format", "png"], catch_exceptions=False)
    paths = [Path(line) for line in result.output.splitlines()]
    names = ("t-recover-high-speed", "t-total-high-speed")
    assert paths == [run / "figures" / f"{name}.png" for name in names]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    out = tmp_path / "deep" / "er"
    argv = ["plot", str(run), "--out", str(out), "--format", "pdf", "--json"]
    data = json.loads(runner.invoke(app, argv, catch_exceptions=False).output)
    assert data == {"figures": [str(out / f"{name}.pdf") for name in names]}


def test_errors(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = write_run([row()])
    with pytest.raises(UserError, match="svg is not known") as caught:
        runner.invoke(app, ["plot", str(run), "--format", "svg"], catch_exceptions=False)
    assert caught.value.usage
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(UserError, match="cannot be written"):
        runner.invoke(app, ["plot", str(run), "--out", str(file)], catch_exceptions=False)
    empty = write_run([row(complete=False)])
    with pytest.raises(UserError, match="no transfer"):
        runner.invoke(app, ["plot", str(empty)], catch_exceptions=False)
