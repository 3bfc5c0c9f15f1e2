"""The finding about 2017: what runs in a second gives the numbers that its result file has."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from scripts.findings import documents, mptcp_tails, results
from scripts.findings.results import kept

import rexmit
from rexmit.cli import app
from rexmit_papers.probe_or_wait_2017.paper import BARS_MS

TEXT: Final = (documents.FOLDER / "mptcp-2017.md").read_text(encoding="utf-8")
RUN: Final = "rexmit run mptcp-2017 --engine model --stack linux-4.1 --out runs/4.1"
NAME: Final = "model of 4.1"


def command(words: str) -> str:
    """What a command of the finding prints."""
    result = CliRunner().invoke(app, shlex.split(words)[1:])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    """The run of the finding's command A."""
    assert f"`{RUN}`" in TEXT.replace("\n", " ")
    path = tmp_path_factory.mktemp("finding") / "4.1"
    command(RUN.replace("runs/4.1", str(path)))
    return rexmit.open_run(path)


def test_the_claims_come_to_what_the_result_has(run: rexmit.Run) -> None:
    data = results.read("mptcp-2017").data
    for claim in rexmit.claims(run):
        row = data.row("claims", run=NAME, key=claim.key)
        assert (row["words"], row["holds"], row["measured"]) == (
            claim.words,
            claim.word,
            claim.measured,
        )


def test_every_time_is_the_one_that_the_result_has(run: rexmit.Run) -> None:
    data = results.read("mptcp-2017").data
    cases = rexmit.bursts(run).cases
    assert len(cases) >= len(BARS_MS) * 5
    for (network, config, loss), case in cases.items():
        row = data.row("times", run=NAME, network=network, config=config, loss=loss)
        assert case.completion.mean_s is not None
        assert row["ms"] == kept(1000 * case.completion.mean_s)


@pytest.mark.parametrize("length", [1, 2, 4])
def test_shares_of_a_burst_of_losses_are_those_of_a_chain(length: int) -> None:
    shares = mptcp_tails.shares(length)
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[1, 0] == pytest.approx(1 / length**2)
    # So many in a row are as many stays, wherever the burst of packets ends among them.
    stays = 1 - 1 / length
    assert shares[3, 0] == pytest.approx(stays**2 / length**2)
    assert shares[2, 1] == pytest.approx(shares[3, 0])


@pytest.mark.parametrize("name", ["triggers", "messages", "page", "schedulers", "bulk"])
def test_what_was_left_for_later_runs(name: str, tmp_path: Path) -> None:
    assert f"rexmit run mptcp-{name} --engine model --stack linux-4.1" in TEXT
    less = "--set repeat=1 --set config="
    config = {"triggers": "probe", "schedulers": "blest", "bulk": "mptcp"}.get(name, "mptcp-tlp")
    small = f"{less}{config} --set network=20-120"
    if name == "bulk":
        small += " --set workload.size=1MB"
    out = tmp_path / name
    command(f"rexmit run mptcp-{name} --engine model --stack linux-4.1 {small} --out {out}")
    assert rexmit.open_run(out).transfers["complete"].all()
