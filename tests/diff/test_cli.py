"""`rexmit diff` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.diff.conftest import WriteRuns, cell

from rexmit.cli import app
from rexmit.errors import UserError

runner = CliRunner()
BASE = [0.200, 0.204, 0.196, 0.200]


def run(*words: object) -> tuple[int, str]:
    done = runner.invoke(app, ["diff", *map(str, words)], env={"COLUMNS": "200"})
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


@pytest.fixture
def runs(write_runs: WriteRuns) -> tuple[Path, Path]:
    a = cell(0, BASE) + cell(1, BASE, lost_segments=2) + cell(2, BASE, lost_segments=3)
    slower = [t * 1.1 for t in BASE]
    b = cell(0, BASE) + cell(1, slower, lost_segments=2, mechanism="tlp", probes=1)
    kernel = {"version": "6.1.192", "hz": 250, "patches": [], "hash": "1"}
    return write_runs(a, b, {"kernel": kernel, "seed": 2})


def test_what_differs_and_by_how_much(runs: tuple[Path, Path]) -> None:
    status, text = run(*runs)
    assert status == 0
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert f"A: {runs[0]}: Linux 6.12.117, HZ 250; seed 1" in lines
    assert f"B: {runs[1]}: Linux 6.1.192, HZ 250; seed 2" in lines
    # Student's t of three degrees of freedom, 3.182, times the deviations 0.0033 and 0.0036 by 2.
    expected = "high-speed, er, 2 lost 0.2000 ±0.0052 0.2200 ±0.0057 +0.0200 +10% ±0.0040 4"
    assert expected in lines
    assert "high-speed, er, 2 lost 4 rto 4 tlp 4" in lines
    assert "high-speed, er, 2 lost 0 : 1" in lines
    assert not any(line.startswith("high-speed, er, 5 lost") for line in lines)
    assert "only in A: 1 cell: high-speed, er, 3 lost" in lines
    assert lines[-1] == (
        "2 cells in both: 1 alike, 1 differ (t_total in 1, most +6.7% in high-speed, er, 2 lost; "
        "t_recover in 1, most +10% in high-speed, er, 2 lost; another first retransmission in 1)"
    )


def test_all_cells_and_chosen_metrics(runs: tuple[Path, Path]) -> None:
    _, text = run(*runs, "--all", "--metric", "rto,probes", "--metric", "srtt")
    assert "retransmission timeout at the first drop" in text
    assert "smoothed round-trip time" in text
    assert "t_recover:" not in text
    assert "high-speed, er, 5 lost" in text
    assert "0 = 0" in text


def test_a_limit_makes_an_exit_status(runs: tuple[Path, Path]) -> None:
    status, text = run(*runs, "--fail-over", "5%")
    assert status == 1
    assert "more than 5% and more than chance: 2 differences" in text
    assert "  high-speed, er, 2 lost: t_recover +10.0%" in text
    assert run(*runs, "--fail-over", "20%")[0] == 0
    assert run(*runs, "--fail-over", "5%", "--cell", "lost=5")[0] == 0
    assert run(*runs, "--fail-over", "8%", "--metric", "t_total")[0] == 0
    assert run(*runs, "--fail-over", "8%", "--metric", "t_recover")[0] == 1
    assert run(*runs, "--fail-over", "5%", "--metric", "probes")[0] == 1


def test_failed_cells_do_not_pass_a_limit(write_runs: WriteRuns) -> None:
    failed = [{"cell": 1, "label": "x", "message": "m", "console_tail": []}]
    runs = write_runs(cell(0, BASE), cell(0, BASE), {"failed_cells": failed})
    status, text = run(*runs, "--fail-over", "5%")
    assert status == 1
    assert "failed in B: 1 cell" in text
    assert run(*runs)[0] == 0


def test_json_says_the_same(runs: tuple[Path, Path]) -> None:
    status, text = run(*runs, "--json", "--fail-over", "5%")
    assert status == 1
    data = json.loads(text)
    assert data["a"]["runs_on"] == "Linux 6.12.117, HZ 250"
    assert [c["differs"] for c in data["cells"]] == [False, True]
    found = next(d for d in data["cells"][1]["differences"] if d["metric"] == "t_recover")
    assert found["percent"] == pytest.approx(10)
    assert found["pairs"] == 4
    assert data["only_in_a"] == ["high-speed, er, 3 lost"]
    assert len(data["over"]) == 2
    assert json.loads(run(*runs, "--json")[1])["over"] is None


def test_the_same_run_is_like_itself(runs: tuple[Path, Path]) -> None:
    status, text = run(runs[0], runs[0], "--fail-over", "0%")
    assert status == 0
    assert text.count(": no cell differs") == 3
    assert "more than 0% and more than chance: 0 differences" in text


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--metric", "t_totl"], "--metric t_totl: there is no such quantity"),
        (["--metric", ","], "--metric names nothing"),
        (["--fail-over", "5"], "--fail-over 5"),
        (["--fail-over", "-1%"], "--fail-over -1%"),
        (["--cell", "config=nothing"], "have no cell in common"),
        (["--tolerance", "1ms"], "belong to --packets"),
        (["--figure", "x.png"], "belong to --packets"),
        (["--packets", "0", "--fail-over", "5%"], "--packets shows one transfer"),
        (["--packets", "0", "--figure", "x.gif"], "no such format"),
        (["--packets", "0", "--tolerance", "4"], '--tolerance 4: "4" has no unit'),
        (["--packets", "0", "--ignore", "colour"], "--ignore colour"),
        (["--packets", "77"], "no such cell in both runs"),
        (["--packets", "nowhere 5"], "no such cell in both runs"),
        (["--packets", "er"], "--packets er: 2 cells of both runs"),
        (["--packets", "0/99"], "no repetition 99 in both runs"),
        (["--packets", "0"], "kept no captures"),
    ],
)
def test_wrong_words_end_with_2(runs: tuple[Path, Path], words: list[str], what: str) -> None:
    with pytest.raises(UserError) as error:
        run(*runs, *words)
    assert what in error.value.what
    assert error.value.exit_status == 2


def test_what_is_no_finished_run_ends_with_2(runs: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "half" / "partial").mkdir(parents=True)
    text = (runs[0] / "run.json").read_text().replace('"complete"', '"unfinished"')
    (tmp_path / "half" / "run.json").write_text(text)
    (tmp_path / "empty").mkdir()
    for path, what in (
        (tmp_path / "nowhere", "no such run"),
        (tmp_path / "empty", "not a run folder"),
        (tmp_path / "half", "the run is not finished"),
        (runs[0] / "run.json", "is a file"),
    ):
        for pair in ((path, runs[0]), (runs[0], path)):
            with pytest.raises(UserError, match=what) as error:
                run(*pair)
            assert error.value.exit_status == 2
