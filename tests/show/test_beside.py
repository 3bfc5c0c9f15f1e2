"""Several runs in one table, each set against the first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.show.conftest import make_row, write_folder

from rexmit.analysis.beside import beside
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.store.open_run import open_run


def rows(recover: dict[str, float], **values: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Two transfers of each configuration."""
    return [
        make_row(
            config=config,
            cell=cell,
            repetition=repetition,
            t_recover_s=time,
            t_total_s=time + 0.1,
            **values,
        )
        for cell, (config, time) in enumerate(recover.items())
        for repetition in (0, 1)
    ]


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    return [
        write_folder(tmp_path / "old", rows({"er": 0.2, "mine": 0.1})),
        write_folder(tmp_path / "new", rows({"er": 0.3, "other": 0.06})),
    ]


def shown(*words: object) -> str:
    done = CliRunner().invoke(app, ["show", *map(str, words)])
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_values_stand_against_the_first_run(runs: list[Path]) -> None:
    table = beside([open_run(path) for path in runs])
    total, recover, client = table.sections
    assert client.measure == "client"
    assert (total.measure, recover.measure) == ("t_total", "t_recover")
    er, mine, other = recover.lines
    assert (er.config, er.reference_s) == ("er", 0.2)
    old, new = er.values
    assert old is not None
    assert new is not None
    assert old.against_reference is not None
    assert (old.against_reference.value, old.against_baseline) == (0, None)
    assert new.against_reference is not None
    assert new.against_reference.value == pytest.approx(0.5)
    assert mine.values[0] is not None
    assert mine.values[0].against_baseline is not None
    assert mine.values[0].against_baseline.value == pytest.approx(-0.5)
    assert mine.values[1] is None
    assert other.reference_s is None
    assert other.values[1] is not None
    assert other.values[1].against_reference is None


def test_on_the_screen(runs: list[Path]) -> None:
    lines = [" ".join(line.split()) for line in shown(*runs).splitlines()]
    assert lines[0] == "Times of these runs: 5 lost segments, means in seconds"
    assert "high-speed: 100 Mbit/s, 10 ms RTT" in lines
    assert "t_recover er 0.2000 ±0 0.3000 ±0 +50%" in lines
    assert "t_recover mine 0.1000 ±0 -" in lines
    assert "mine vs er -50%" in lines


def test_json_says_the_same(runs: list[Path]) -> None:
    data = json.loads(shown(*runs, "--json"))
    assert [run["path"] for run in data["runs"]] == list(map(str, runs))
    last = [one for one in data["cells"] if one["measure"] == "t_recover"][-1]
    assert (last["measure"], last["config"]) == ("t_recover", "other")
    assert last["values"][1]["spread"]["mean_s"] == pytest.approx(0.06)


def test_networks_of_any_run_are_there(runs: list[Path], tmp_path: Path) -> None:
    other = write_folder(tmp_path / "another", rows({"er": 0.4}, network="mobile"))
    table = beside([open_run(path) for path in (runs[1], other)])
    assert [(s.network, s.measure) for s in table.sections] == [
        ("high-speed", "t_total"),
        ("high-speed", "t_recover"),
        ("high-speed", "client"),
        ("mobile", "t_total"),
        ("mobile", "t_recover"),
        ("mobile", "client"),
    ]
    assert [value is None for value in table.sections[3].lines[0].values] == [True, False]


@pytest.mark.parametrize("words", [["--repairs"], ["--full"], ["--flow", "0"]])
def test_what_is_of_one_run_alone(runs: list[Path], words: list[str]) -> None:
    with pytest.raises(UserError, match="show one run") as error:
        shown(*runs, *words)
    assert error.value.usage


def test_runs_of_other_baselines_are_not_mixed(runs: list[Path], tmp_path: Path) -> None:
    other = write_folder(tmp_path / "another", rows({"mine": 0.4, "er": 0.5}))
    with pytest.raises(UserError, match="percentages against mine"):
        shown(runs[0], other)
    assert "mine vs er" in shown(runs[0], other, "--baseline", "er")
    with pytest.raises(UserError, match="no transfer with 7 lost segments"):
        shown(*runs, "--losses", "7")
