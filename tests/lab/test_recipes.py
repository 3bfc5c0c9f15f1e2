"""The recipes: each is short and quick, and does what its page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from tests.lab.conftest import Lab, Run, User

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "how-to" / "recipes.md").read_text(encoding="utf-8")
PARTS: Final = PAGE.split("\n## ")[1:]
RECIPES: Final = list((ROOT / "scenarios" / "recipes").glob("*.toml"))

KEYS: Final = {
    "network": "network",
    "configuration": "config",
    "pattern": "loss_pattern",
    "lost": "lost_segments",
}
VALUES: Final = {
    "client": (pl.col("client_s").mean(), "{:.2f} s"),
    "median": (pl.col("client_s").median(), "{:.2f} s"),
    "slowest": (pl.col("client_s").max(), "{:.2f} s"),
    "last answer": (pl.col("t_total_s").mean(), "{:.2f} s"),
    "sent again": (pl.col("retransmissions").mean(), "{:.1f}"),
    "round trip": (pl.col("srtt_s").mean() * 1000, "{:.0f} ms"),
    "repaired": (pl.col("t_recover_s").mean() * 1000, "{:.0f} ms"),
    "timeouts": (pl.col("timeouts").mean(), "{:.1f}"),
}


def command(part: str) -> list[str]:
    """The words of a part's command."""
    (line,) = re.findall(r"^rexmit (run .*) --out", part, re.MULTILINE)
    return str(line).split()


def test_the_page_has_each_recipe_once() -> None:
    named = sorted(command(part)[1] for part in PARTS)
    assert named == sorted(f"recipes/{file.stem}" for file in RECIPES)
    assert len(named) >= 12
    assert all("\nKnob: " in part for part in PARTS)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: command(part)[1])
def test_a_recipe_answers_as_its_page_says(part: str, me: User, tmp_path: Path) -> None:
    words = command(part)
    file = ROOT / "scenarios" / f"{words[1]}.toml"
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 30
    run = Run(tmp_path / "run", Lab(me).rexmit(*words, "--out", str(tmp_path / "run")))
    assert run.done.ok().seconds < 30
    assert run.transfers["complete"].all()
    lines = [line.strip("| ") for line in part.splitlines() if line.startswith("|")]
    head, _, *shown = ([cell.strip(" `") for cell in line.split("|")] for line in lines)
    keys = [KEYS[name] for name in head if name in KEYS]
    values = [VALUES[name] for name in head if name not in KEYS]
    groups = run.transfers.group_by(keys, maintain_order=True)
    measured = [
        [*map(str, of), *(form.format(rows.select(value).item()) for value, form in values)]
        for of, rows in groups
    ]
    assert shown == measured
