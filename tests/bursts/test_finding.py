"""The finding about 2017: its small commands run, and say what its table says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from typer.testing import CliRunner

from rexmit.cli import app
from rexmit.papers.probe_or_wait_2017.claims import claims
from rexmit.papers.probe_or_wait_2017.paper import BARS_MS
from rexmit.store.open_run import open_run

FINDING: Final = Path(__file__).parents[2] / "docs" / "findings" / "mptcp-2017.md"
TEXT: Final = FINDING.read_text(encoding="utf-8")
RUN: Final = "rexmit run mptcp-2017 --engine model --stack linux-4.1 --out runs/4.1"
DASH: Final = "\u2013"
_BARS: Final = re.compile(rf"^\|[^|]*\| \d+{DASH}\d+ \| \d+ \(\d+\) / ")
_ROW: Final = re.compile(r"^\| claim \((\w+)\) \| ([^|]+) \| (holds|does not) \|", re.MULTILINE)
_MET: Final = re.compile(r"^\| (Fig\. \d) \|[^|]*\| (\d+) met \|.*\((h\d)\)", re.MULTILINE)


def command(words: str) -> str:
    """What a command of the finding prints."""
    result = CliRunner().invoke(app, shlex.split(words)[1:])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the finding's command A."""
    assert f"`{RUN}`" in TEXT.replace("\n", " ")
    path = tmp_path_factory.mktemp("finding") / "4.1"
    command(RUN.replace("runs/4.1", str(path)))
    return path


def test_the_claims_come_to_what_the_table_says(folder: Path) -> None:
    told = {claim.key: claim for claim in claims(open_run(folder))}
    rows = {key: (words, verdict) for key, words, verdict in _ROW.findall(TEXT)}
    assert set(rows) == {key for key in told if not key.startswith("h")}
    for key, (words, verdict) in rows.items():
        assert told[key].holds is (verdict == "holds"), key
        assert told[key].words.startswith(f"({key[0]}) {words.split(' (')[0][:20]}"), key


def test_the_bars_met_are_as_many_as_the_table_says(folder: Path) -> None:
    told = {claim.key: claim.measured for claim in claims(open_run(folder))}
    met = _MET.findall(TEXT)
    assert [key for _, _, key in met] == ["h2", "h4", "h6"]
    for figure, count, key in met:
        assert told[key].startswith(f"{count} of "), figure
    assert told["h3"] == "6 of 6"
    assert told["h5"] == "3 of 3"


def test_every_bar_of_the_table_is_the_authors(folder: Path) -> None:
    """Model and bar of every cell, as the table of completion times has them."""
    rows = [line for line in TEXT.splitlines() if _BARS.match(line)]
    assert len(rows) == 15
    losses = list(dict.fromkeys(loss for _, loss in BARS_MS))
    cases = {
        (row["config"], row["network"], row["loss_pattern"]): row["t_total_s"]
        for row in open_run(folder)
        .transfers.group_by("config", "network", "loss_pattern")
        .agg(pl.col("t_total_s").mean())
        .iter_rows(named=True)
    }
    for place, line in enumerate(rows):
        _, network, tcp, mptcp, _ = (cell.strip() for cell in line.strip("|").split("|"))
        pair = tuple(int(delay) for delay in network.split(DASH))
        cells = (tcp + " / " + mptcp).split(" / ")
        for config, cell in zip(
            ("tcp-rto", "tcp-tlp", "mptcp-rto", "mptcp-tlp", "mptcp-new"), cells, strict=True
        ):
            ours, bar = (int(number) for number in re.findall(r"\d+", cell))
            loss = losses[place // 5]
            assert bar == BARS_MS[config, loss][pair]  # type: ignore[index]
            mean_ms = 1000 * cases[config, network.replace(DASH, "-"), loss]
            assert abs(mean_ms - ours) <= 0.51


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
    assert open_run(out).transfers["complete"].all()
