"""Faults at random, few enough for every day; `make soak` has thousands of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.commands import COMMANDS
from tests.faults.plan import plan, plans

ROOT = Path(__file__).parents[2]


def faults(*words: str) -> subprocess.CompletedProcess[str]:
    """The driver, as `make soak` calls it."""
    return subprocess.run(
        [sys.executable, "-m", "tests.faults", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("commands", "count"),
    [("other", 130), pytest.param("kernel", 70, marks=pytest.mark.kernel)],
)
def test_after_any_fault_the_result_is_the_undisturbed_one(commands: str, count: int) -> None:
    done = faults("--commands", commands, "--faults", str(count))
    assert done.returncode == 0, done.stdout
    found = re.search(r"(\d+) faults in \d+ campaigns, (\d+) of which met nothing", done.stdout)
    assert found, done.stdout
    assert int(found[1]) >= count
    assert int(found[2]) < count / 2, "faults that meet nothing show nothing"


@pytest.mark.tools
def test_the_driver_sees_a_result_that_is_wrong() -> None:
    done = faults("--commands", "run model", "--faults", "4", "--drivers", "1", "--break-results")
    assert done.returncode == 1
    assert "WRONG: campaign 0, run model: " in done.stdout
    assert "differs in: retransmissions.parquet, run.json" in done.stdout
    assert (
        "again: python -m tests.faults --seed 1 --commands 'run model' --campaign 0" in done.stdout
    )


def test_the_seed_gives_the_plan() -> None:
    names = list(COMMANDS)
    assert plans("7", 100, names) == plans("7", 100, names)
    assert plans("7", 100, names) != plans("8", 100, names)
    assert plans("7", 100, names)[5] == plan("7", 5, names)
