"""Figures: which there are, their points, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.figures.draw import draw, write
from rexmit.figures.plan import plan
from rexmit.figures.series import offsets
from rexmit.figures.style import RC, looks
from rexmit.tables.run_folder import open_run

Rows = Callable[..., Any]
runner = CliRunner()


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
    assert (by_name["figure-5b"].network, by_name["figure-5b"].measure) == ("mobile", "t_total")


def test_other_networks_are_named(row: Rows, write_run: Rows) -> None:
    rows = [row(network="my lab/2")]
    assert [f.name for f in plan(open_run(write_run(rows)))] == [
        "t-recover-my-lab-2",
        "t-total-my-lab-2",
    ]


def test_a_network_set_otherwise_is_not_the_papers(row: Rows, write_run: Rows) -> None:
    scenario = {"networks": {"high-speed": {"rate": "1Gbit", "delay": "2.5ms"}}}
    figures = plan(open_run(write_run([row()], scenario=scenario)))
    assert [f.name for f in figures] == ["t-recover-high-speed", "t-total-high-speed"]
    assert all(not figure.paper for figure in figures)


def test_swept_settings_have_figures_of_their_own(row: Rows, write_run: Rows) -> None:
    rows = [row(cell=i, congestion_control=cc) for i, cc in enumerate(("cubic", "bbr"))]
    figures = plan(open_run(write_run(rows)))
    assert [f.name for f in figures] == [
        "figure-4-cubic",
        "figure-4-bbr",
        "figure-5a-cubic",
        "figure-5a-bbr",
    ]
    assert [bool(f.paper) for f in figures] == [True, False, True, False]


def test_points_are_means_over_what_show_uses(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", lost_segments=2, repetition=0, t_total_s=1.0, is_tlp=True),
        row(config="tlp", lost_segments=2, repetition=1, t_total_s=2.0, is_tlp=True),
        row(config="tlp", lost_segments=2, repetition=2, t_total_s=9.0, is_tlp=False),
        row(config="tlp", lost_segments=0, cell=1, t_total_s=0.5, t_recover_s=None, is_tlp=None),
    ]
    recover, total = plan(open_run(write_run(rows)))
    (line,) = total.series
    assert [(p.lost_segments, p.mean_s, p.n) for p in line.points] == [(0, 0.5, 1), (2, 1.5, 2)]
    assert line.points[1].sd_s == pytest.approx(0.5**0.5)
    assert line.points[0].sd_s == 0
    assert [p.lost_segments for p in recover.series[0].points] == [2]
    assert recover.losses == total.losses == (0, 2)


def test_no_figure_without_a_point(row: Rows, write_run: Rows) -> None:
    run = write_run([row(lost_segments=0, t_recover_s=None, mechanism=None)])
    assert [f.name for f in plan(open_run(run))] == ["figure-5a"]


@pytest.mark.parametrize("how_many", range(1, 9))
def test_series_stand_apart_and_stay_with_their_number(how_many: int) -> None:
    shifts = offsets(how_many)
    assert sum(shifts) == pytest.approx(0)
    assert max(map(abs, shifts)) < 0.5
    assert all(b - a > 0.09 for a, b in pairwise(shifts))


def test_no_two_configurations_look_alike() -> None:
    names = ("plain", "er", "tlp", *(f"x{i}" for i in range(8)))
    found = looks(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(names)


def test_markers_stand_beside_each_other(campaign: Rows, write_run: Rows) -> None:
    figure = plan(open_run(write_run(campaign(2))))[1]
    with mpl.rc_context(RC):
        canvas = draw(figure)
        canvas.draw_without_rendering()
    (axes,) = canvas.axes
    apart = offsets(3)[1] - offsets(3)[0]
    left, right = (axes.transData.transform((x, 0))[0] for x in (0.0, apart))
    points = (right - left) * 72 / canvas.dpi
    assert points >= RC["lines.markersize"]


def test_axes_start_at_zero_and_have_units(campaign: Rows, write_run: Rows) -> None:
    figure = plan(open_run(write_run(campaign(2))))[0]
    (axes,) = draw(figure).axes
    tops = [p.mean_s + p.sd_s for s in figure.series for p in s.points]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > max(tops)
    assert axes.get_xlim()[0] < offsets(3)[0]
    assert axes.get_xlim()[1] > 20 + offsets(3)[2]
    assert "(s)" in axes.get_ylabel()
    assert "segments" in axes.get_xlabel()


def test_the_same_bytes_every_time(campaign: Rows, write_run: Rows, tmp_path: Path) -> None:
    figure = plan(open_run(write_run(campaign(2))))[0]
    first = write(figure, tmp_path / "a", ("pdf", "png"))
    with mpl.rc_context({"font.size": 30, "lines.markersize": 30}):
        second = write(figure, tmp_path / "b", ("pdf", "png"))
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"CreationDate" not in first[0].read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "figure-4.pdf",
        "figure-4.png",
    ]


def test_plot_prints_the_paths(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = write_run([row()])
    result = runner.invoke(app, ["plot", str(run), "--format", "png"], catch_exceptions=False)
    paths = [Path(line) for line in result.output.splitlines()]
    assert paths == [run / "figures" / "figure-4.png", run / "figures" / "figure-5a.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
    out = tmp_path / "deep" / "er"
    argv = ["plot", str(run), "--out", str(out), "--format", "pdf", "--json"]
    data = json.loads(runner.invoke(app, argv, catch_exceptions=False).output)
    assert data == {"figures": [str(out / "figure-4.pdf"), str(out / "figure-5a.pdf")]}


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
