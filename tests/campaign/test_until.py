"""Repetitions until intervals are narrow: seed after seed, the same rows after an interruption."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import rexmit
from rexmit.analysis.units import units_of
from rexmit.campaign.runner import CampaignRun
from rexmit.errors import UserError
from rexmit.interrupt import Interrupted

HOW: dict[str, Any] = {
    "engine": "model",
    "settings": {"repeat": 2, "loss.segments": [5], "network": "mobile"},
}


def half(run: rexmit.Run) -> float:
    """The widest interval of t_total, as a share of its mean."""
    found = []
    for block in rexmit.times(run).blocks:
        for entry in block.t_total:
            estimate = entry.spread.estimate
            assert estimate is not None
            assert estimate.half is not None
            found.append(estimate.half / estimate.value)
    return max(found)


def test_seeds_are_run_until_every_interval_is_narrow(tmp_path: Path) -> None:
    few = rexmit.run("smoke", out=tmp_path / "five", seeds="1..5", **HOW)
    assert units_of(few).seeds == 5
    within = half(few)
    # A little less than what five seeds give takes some more.
    asked = f"{100 * within / 1.5:.3g}%"
    run = rexmit.run("smoke", out=tmp_path / "until", until=asked, **HOW)
    seeds = units_of(run).seeds
    assert 5 < seeds < 100
    assert half(run) <= within / 1.5
    assert run.meta["warnings"] == []
    assert run.meta["state"] == "complete"
    assert f"--until {asked}" in run.meta["command"]
    # One less would not have done.
    fewer = rexmit.run("smoke", out=tmp_path / "fewer", seeds=f"1..{seeds - 1}", **HOW)
    assert half(fewer) > within / 1.5
    # Its rows are those of so many seeds.
    same = rexmit.run("smoke", out=tmp_path / "same", seeds=f"1..{seeds}", **HOW)
    assert same.transfers.equals(run.transfers)


def test_the_ceiling_is_said(tmp_path: Path) -> None:
    run = rexmit.run("smoke", out=tmp_path / "run", until="0.0001%", seeds="1..6", **HOW)
    assert units_of(run).seeds == 6
    (warning,) = run.meta["warnings"]
    assert warning.startswith("until 0.0001%: after 6 seeds, the most, mobile ")


def test_an_interruption_changes_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {**HOW, "until": "0.0001%", "seeds": "1..8", "jobs": 1}
    whole = rexmit.run("smoke", out=tmp_path / "whole", **asked)
    folder = tmp_path / "stopped"
    weigh, count = CampaignRun._weigh, [0]

    def stop(self: CampaignRun, *of: Any) -> None:  # noqa: ANN401 - of the method
        count[0] += 1
        if count[0] == 14:
            raise Interrupted(2)
        weigh(self, *of)

    with monkeypatch.context() as patched:
        patched.setattr(CampaignRun, "_weigh", stop)
        with pytest.raises(Interrupted):
            rexmit.run("smoke", out=folder, **asked)
    again = rexmit.run("smoke", out=folder, **asked)
    assert again.transfers.equals(whole.transfers)
    shutil.rmtree(folder)


def test_nothing_narrower_than_nothing_is_asked_for() -> None:
    for wrong in ("0%", "2", "-1%"):
        with pytest.raises(UserError, match="until"):
            rexmit.run("smoke", engine="model", until=wrong)
