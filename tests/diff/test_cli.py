"""`rexmit diff` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from tests.diff.conftest import WriteRuns, cell

from rexmit.cli import app
from rexmit.comparison.measures import BURST, METRICS
from rexmit.errors import UserError
from rexmit.store.baseline import COLUMNS, write_baseline
from rexmit.store.open_run import open_run
from rexmit.store.schema import GRID

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
    status, text = run(*runs, "--worse-than", "5%", "--cell", "lost=2,5")
    assert status == 1
    assert "worse than A by more than 5%: 4 differences" in text
    assert "  high-speed, er, 2 lost: t_recover +10.0% (+10.0% to +10.0%)" in text
    assert "  high-speed, er, 2 lost: first retransmission 4 rto; now 4 tlp" in text
    assert "  high-speed, er, 2 lost: probes 0, now 1 a transfer" in text
    assert run(*runs, "--worse-than", "5%", "--cell", "lost=5")[0] == 0


def test_the_limit_is_of_what_is_compared(write_runs: WriteRuns) -> None:
    runs = write_runs(cell(0, BASE), cell(0, [t * 1.1 for t in BASE]))
    assert run(*runs, "--worse-than", "20%")[0] == 0
    assert run(*runs, "--worse-than", "8%", "--metric", "t_total")[0] == 0
    assert run(*runs, "--worse-than", "8%", "--metric", "t_recover")[0] == 1
    assert run(*runs, "--worse-than", "0%", "--metric", "probes")[0] == 0


def test_an_improvement_passes_and_is_told(write_runs: WriteRuns) -> None:
    runs = write_runs(cell(0, BASE), cell(0, [t * 0.7 for t in BASE]))
    status, text = run(*runs, "--worse-than", "5%")
    assert status == 0
    assert "worse than A by more than 5%: 0 differences" in text
    assert "better than A: 2 differences" in text
    assert "  high-speed, er, 5 lost: t_recover -30.0% (-30.0% to -30.0%)" in text


def test_what_the_repetitions_cannot_tell_is_no_verdict(write_runs: WriteRuns) -> None:
    noisy = [t * factor for t, factor in zip(BASE, (1.2, 0.9, 1.3, 0.8), strict=True)]
    runs = write_runs(cell(0, BASE), cell(0, noisy))
    status, text = run(*runs, "--worse-than", "5%", "--metric", "t_recover")
    assert status == 125
    assert "within 5% or not: more repetitions would tell: 1 difference" in text
    assert run(*runs, "--worse-than", "50%", "--metric", "t_recover")[0] == 0


def test_missing_and_new_cells_trip_a_limit(runs: tuple[Path, Path]) -> None:
    status, text = run(*runs, "--worse-than", "5%", "--cell", "lost=3,5")
    assert status == 1
    assert "  high-speed, er, 3 lost: missing: only A has this cell" in text
    status, text = run(*reversed(runs), "--worse-than", "5%", "--cell", "lost=3,5")
    assert status == 1
    assert "  high-speed, er, 3 lost: new: only B has this cell" in text


def test_transfers_that_do_not_end_trip_a_limit(write_runs: WriteRuns) -> None:
    hanging = cell(0, BASE)
    hanging[1]["complete"] = False
    runs = write_runs(cell(0, BASE), hanging)
    status, text = run(*runs, "--worse-than", "5%")
    assert status == 1
    assert "incomplete or stalled 0, now 1 transfers" in text
    assert run(*reversed(runs), "--worse-than", "5%")[0] == 0


def test_failed_cells_are_no_verdict(write_runs: WriteRuns) -> None:
    failed = [{"cell": 1, "label": "x", "message": "m", "console_tail": []}]
    runs = write_runs(cell(0, BASE), cell(0, BASE), {"failed_cells": failed})
    status, text = run(*runs, "--worse-than", "5%")
    assert status == 125
    assert "failed in B: 1 cell" in text
    assert run(*runs)[0] == 0


def test_a_limit_of_the_version_before(runs: tuple[Path, Path]) -> None:
    status, text = run(*runs, "--fail-over=5%")
    assert status == 1
    assert "`rexmit diff --fail-over` is now `rexmit diff --worse-than`" in text
    assert run(*runs, "--fail-over", "5%", "--cell", "lost=5")[0] == 0


def test_machines_get_a_line_a_cell(runs: tuple[Path, Path], tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    status, text = run(*runs, "--worse-than", "5%", "--ktap", "--junit", report)
    assert status == 1
    assert text.splitlines()[:3] == ["KTAP version 1", "1..3", "ok 1 high-speed, er, 5 lost"]
    assert "# worse: t_recover +10.0% (+10.0% to +10.0%)" in text
    assert text.splitlines()[-1] == "not ok 3 high-speed, er, 3 lost"
    suite = ElementTree.fromstring(report.read_text())  # noqa: S314 - we have written it
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "2", "0")


def test_a_baseline_is_a_small_file_that_says_as_much(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    kept = tmp_path / "base.json"
    write_baseline(open_run(runs[0]), kept)
    words = ("--worse-than", "5%", "--metric", "t_total,t_recover,client,srtt,rto", "--json")
    of_run, of_baseline = (json.loads(run(a, runs[1], *words)[1]) for a in (runs[0], kept))
    assert of_baseline["a"].pop("run") == str(kept)
    of_run["a"].pop("run")
    assert of_baseline == of_run
    assert run(kept, runs[0], "--worse-than", "0%")[0] == 0
    lines = kept.read_text().splitlines()
    assert sum(line.startswith("[") for line in lines) == 12, "a line a transfer"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"baseline": 1', '"baseline": 99', "the baseline has format 99"),
        ('"format": 1', '"format": 99', "it has format 99"),
        ('"cell"', '"call"', "its columns are not those of a baseline"),
        ("[\n[", "[\n[[],", "cannot be read"),
        ("[\n[", "[\n", "cannot be read"),
        ('"rows": [\n', '"rows": 7, "no": [\n', "rows must be a list of rows"),
        ("0.2,", '"x",', "cannot be read"),
    ],
)
def test_a_damaged_baseline_is_refused(
    runs: tuple[Path, Path], tmp_path: Path, old: str, new: str, what: str
) -> None:
    kept = tmp_path / "base.json"
    write_baseline(open_run(runs[0]), kept)
    text = kept.read_text()
    assert old in text
    kept.write_text(text.replace(old, new))
    with pytest.raises(UserError, match=what) as error:
        run(kept, runs[1])
    assert error.value.exit_status == 2


def test_a_run_writes_its_baseline_whenever_it_is_asked(tmp_path: Path) -> None:
    words = ("run", "smoke", "--engine", "model", "--out", str(tmp_path / "run"))
    kept = tmp_path / "base.json"
    for options in ((), ("--baseline", str(kept))):
        assert runner.invoke(app, [*words, *options]).exit_code == 0
    assert kept.stat().st_size < 20_000
    assert run(kept, tmp_path / "run", "--worse-than", "0%")[0] == 0


def test_a_baseline_has_all_that_is_compared() -> None:
    names = {column.name for column in COLUMNS}
    of_transfers = {*METRICS.values()} - {METRICS[BURST]}
    assert {*of_transfers, "mechanism", "phase_s", *GRID} <= names


def test_json_says_the_same(runs: tuple[Path, Path]) -> None:
    status, text = run(*runs, "--json", "--worse-than", "5%")
    assert status == 1
    data = json.loads(text)
    assert data["a"]["runs_on"] == "Linux 6.12.117, HZ 250"
    assert [c["differs"] for c in data["cells"]] == [False, True]
    found = next(d for d in data["cells"][1]["differences"] if d["metric"] == "t_recover")
    assert found["percent"] == pytest.approx(10)
    assert found["pairs"] == 4
    assert data["only_in_a"] == ["high-speed, er, 3 lost"]
    judgements = [one["judgement"] for one in data["gate"]["findings"]]
    assert judgements == ["worse"] * 5, "two times, probes, the mechanism, a missing cell"
    assert data["gate"]["exit_status"] == 1
    assert json.loads(run(*runs, "--json")[1])["gate"] is None


def test_the_same_run_is_like_itself(runs: tuple[Path, Path]) -> None:
    status, text = run(runs[0], runs[0], "--worse-than", "0%")
    assert status == 0
    assert text.count(": no cell differs") == 3
    assert "worse than A by more than 0%: 0 differences" in text


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--metric", "t_totl"], "--metric t_totl: there is no such quantity"),
        (["--metric", ","], "--metric names nothing"),
        (["--worse-than", "5"], "--worse-than 5"),
        (["--worse-than", "-1%"], "--worse-than -1%"),
        (["--ktap"], "belong to --worse-than"),
        (["--worse-than", "5%", "--ktap", "--json"], "two formats"),
        (["--cell", "config=nothing"], "have no cell in common"),
        (["--tolerance", "1ms"], "belong to --packets"),
        (["--figure", "x.png"], "belong to --packets"),
        (["--packets", "0", "--worse-than", "5%"], "--packets shows one transfer"),
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
