"""A corpus of the model scored by the analysis and by tshark: every retransmission is accounted
for.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from rexmit.cli import app

runner = CliRunner()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred connections with their truth."""
    out = tmp_path_factory.mktemp("synth") / "corpus"
    words = ["validate", "synth", "--connections", "100", "--seed", "11", "--out", str(out)]
    result = runner.invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return out


def test_every_retransmission_is_right_wrong_or_missed(corpus: Path) -> None:
    result = runner.invoke(
        app, ["validate", "score", str(corpus), "--json"], catch_exceptions=False
    )
    points = json.loads(result.stdout)["points"]
    truth = pl.read_parquet(corpus / "retransmissions.parquet").filter(
        pl.col("mechanism") != "unknown"
    )
    for name in ("sender", "switch", "receiver"):
        captured = truth[f"{name}_ns"].count()
        everywhere = points[name]["mechanism"]["retransmissions"]
        if name == "switch":
            assert everywhere == captured
        for score in [points[name], *points[name]["parts"].values()]:
            for made in (score["mechanism"], score["two_classes"]):
                told = sum(n for row in made["confusion"].values() for n in row.values())
                assert told == made["retransmissions"] + made["invented"]
    both = (
        points["sender"]["mechanism"]["retransmissions"]
        + points["receiver"]["mechanism"]["retransmissions"]
    )
    assert both == truth["sender_ns"].count() + truth["receiver_ns"].count()


def test_most_of_what_a_sender_does_is_explained(corpus: Path) -> None:
    words = ["validate", "score", str(corpus), "--point", "sender", "--no-tshark", "--json"]
    result = runner.invoke(app, words, catch_exceptions=False)
    made = json.loads(result.stdout)["points"]["sender"]
    assert made["mechanism"]["retransmissions"] > 50
    assert made["mechanism"]["invented"] == 0
    assert made["mechanism"]["accuracy"] > 0.5
    assert made["need"]["accuracy"] > 0.5
