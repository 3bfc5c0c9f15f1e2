"""The model against the kernel it models, by `rexmit diff` as a user would."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.processes import run_command

pytestmark = pytest.mark.kernel

GRID = (
    *("--set", "network=high-speed,mobile"),
    *("--set", "config=er,tlp"),
    *("--set", "loss.segments=0,1,2,5"),
    *("--set", "repeat=3"),
    "--capture",
)


def rexmit(*words: object, status: int = 0) -> str:
    done = run_command([sys.executable, "-m", "rexmit", *map(str, words)])
    assert done.returncode == status, done.stderr
    return done.stdout


@pytest.mark.parametrize("version", ["6.1", "6.12"])
def test_the_model_does_as_its_kernel(tmp_path: Path, version: str) -> None:
    model, kernel = tmp_path / "model", tmp_path / "kernel"
    rexmit("run", "tlp-2013", *GRID, "--out", kernel, "--kernel", version)
    rexmit(
        "run", "tlp-2013", *GRID, "--out", model, "--engine", "model", "--stack", f"linux-{version}"
    )
    said = json.loads(rexmit("diff", model, kernel, "--worse-than", "0%", "--json"))
    assert len(said["cells"]) == 16
    assert all(cell["paired"] for cell in said["cells"])
    assert said["differing"] == 0
    for cell in ("high-speed tlp 5", "mobile er 2", "mobile tlp 1"):
        text = rexmit("diff", model, kernel, "--packets", cell)
        assert "no packet differs in 3 repetitions" in text
    # Two configurations that do differ are told apart.
    other = rexmit("diff", model, kernel, "--map", "config:er=tlp", "--worse-than", "5%", status=1)
    assert "high-speed, er : tlp, 5 lost" in other
