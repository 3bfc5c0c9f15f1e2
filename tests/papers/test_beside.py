"""Several runs and the paper in one table."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.show.conftest import make_row, write_folder

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.store.open_run import open_run
from rexmit_papers.ryll_2013.beside import beside, near

MODEL = {
    "version": "0.1.0",
    "stacks": {"er": {"stack": "linux-3.10", "settings": {"hz": "250"}}},
}

Rows = Callable[..., Any]


def rows(recover: dict[str, float], **values: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    """Two transfers of each configuration."""
    return [
        make_row(
            config=config,
            cell=cell,
            repetition=repetition,
            t_recover_s=time,
            t_total_s=time + 0.1,
            is_tlp=config == "tlp",
            **values,
        )
        for cell, (config, time) in enumerate(recover.items())
        for repetition in (0, 1)
    ]


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    model = rows({"plain": 0.24, "er": 0.2365, "tlp": 0.045})
    kernel = rows({"er": 0.3, "tlp": 0.06})
    return [
        write_folder(tmp_path / "model", model, engine="model", kernel=None, model=MODEL),
        write_folder(tmp_path / "kernel", kernel),
    ]


def shown(*words: object) -> str:
    done = CliRunner().invoke(app, ["paper", "tlp-2013", *map(str, words)])
    if isinstance(done.exception, UserError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.output


def test_values_stand_beside_the_papers(runs: list[Path]) -> None:
    table = beside([open_run(path) for path in runs])
    total, recover, client = table.sections
    assert client.measure == "client"
    assert (recover.network, recover.measure) == ("high-speed", "t_recover")
    assert [line.config for line in recover.lines] == ["plain", "er", "tlp"]
    plain, er, tlp = recover.lines
    assert (plain.reference_s, plain.values[1]) == (0.2396, None)
    assert er.reference_against_baseline is None
    assert tlp.reference_against_baseline is not None
    assert tlp.reference_against_baseline.value == pytest.approx(-0.811, abs=0.001)
    model, kernel = tlp.values
    assert model is not None
    assert kernel is not None
    assert model.against_reference is not None
    assert kernel.against_reference is not None
    assert kernel.against_baseline is not None
    assert model.against_reference.value == pytest.approx(0.0067, abs=0.0001)
    assert kernel.against_reference.value == pytest.approx(0.342, abs=0.001)
    assert kernel.against_baseline.value == pytest.approx(-0.8)
    assert [near(table, run, "t_total") for run in (0, 1)] == [(2, 3), (0, 2)]
    assert [near(table, run, "t_recover") for run in (0, 1)] == [(3, 3), (0, 2)]
    assert total.lines[0].config == "plain"


def test_on_the_screen(runs: list[Path]) -> None:
    lines = [" ".join(line.split()) for line in shown(*runs).splitlines()]
    assert "paper, model of Linux" in lines
    assert "2013 linux-3.10 vs 2013 6.12.117 vs 2013" in lines
    assert "high-speed: 100 Mbit/s, 10 ms RTT" in lines
    assert "t_recover tlp 0.0447 0.0450 ±0 +0.7% 0.0600 ±0 +34%" in lines
    assert "t_recover plain 0.2396 0.2400 ±0 +0.2% -" in lines
    assert "tlp vs er -81% -81% -80%" in lines
    near = "t_recover within 5% of the paper: 3 of 3; t_total within 10% of the paper: 2 of 3"
    assert f"model of linux-3.10, HZ 250: {near}; {runs[0]}" in lines


def test_networks_of_any_run_are_there(runs: list[Path], tmp_path: Path) -> None:
    other = write_folder(tmp_path / "other", rows({"er": 0.4}, network="mobile"))
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


def test_losses_that_the_paper_does_not_print(tmp_path: Path) -> None:
    path = write_folder(tmp_path / "a", rows({"er": 0.4}, lost_segments=7))
    text = shown(path, path, "--losses", "7")
    assert "7 lost segments" in text
    assert "within" not in text


def test_claims_have_a_column_a_run(runs: list[Path]) -> None:
    text = shown(*runs, "--claims")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "There is no case in which the probe is worse holds holds" in lines
    assert any(
        line.startswith("Without loss all are equally fast (Figure 5) - -") for line in lines
    )


def test_json_says_the_same(runs: list[Path]) -> None:
    data = json.loads(shown(*runs, "--claims", "--json"))
    assert [run["runs_on"] for run in data["runs"]] == [
        "model of linux-3.10, HZ 250",
        "Linux 6.12.117, HZ 250",
    ]
    assert data["runs"][0]["near_the_paper"]["t_recover"] == {"near": 3, "of": 3}
    assert len(data["runs"][1]["claims"]) == 13
    last = [one for one in data["cells"] if one["measure"] == "t_recover"][-1]
    assert (last["measure"], last["config"]) == ("t_recover", "tlp")
    assert last["values"][1]["spread"]["mean_s"] == pytest.approx(0.06)


def test_what_is_of_one_run_alone(runs: list[Path]) -> None:
    with pytest.raises(UserError, match="--table1 is of one run") as error:
        shown(*runs, "--table1")
    assert error.value.usage


def test_runs_of_other_baselines_are_not_mixed(runs: list[Path], tmp_path: Path) -> None:
    other = write_folder(tmp_path / "other", rows({"mine": 0.4}))
    with pytest.raises(UserError, match="percentages against mine"):
        shown(runs[0], other)
    with pytest.raises(UserError, match="no transfer with 7 lost segments"):
        shown(*runs, "--losses", "7")
