"""A grid under several seeds: rounds that are the runs of their seeds, pooled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import rexmit
from rexmit.campaign.rounds import rounds
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.scenario import find, load


def test_a_round_is_the_run_of_its_seed(tmp_path: Path) -> None:
    how: dict[str, Any] = {"engine": "model", "settings": {"repeat": 3, "loss.segments": [0, 5]}}
    pooled = rexmit.run("smoke", out=tmp_path / "pooled", seeds="4,7..8", capture=True, **how)
    assert pooled.meta["seed"] == [4, 7, 8]
    assert "--seeds 4," in pooled.meta["command"]
    head = CliRunner().invoke(app, ["diff", str(pooled.path), str(pooled.path)]).output
    assert "3 seeds pooled (4, 7, 8), intervals by seed" in " ".join(head.split())
    for place, seed in enumerate((4, 7, 8)):
        name = str(seed)
        alone = rexmit.run("smoke", out=tmp_path / name, seed=seed, capture=True, **how)
        for table in ("transfers.parquet", "retransmissions.parquet"):
            rows = pl.read_parquet(pooled.path / table)
            own = rows.filter(pl.col("repetition") // 3 == place)
            own = own.with_columns(pl.col("repetition") - 3 * place)
            assert own.height > 0
            assert own.equals(pl.read_parquet(alone.path / table))
        capture = (pooled.path / "captures" / f"1-{3 * place + 2}.h1.pcapng").read_bytes()
        assert capture == (alone.path / "captures" / "1-2.h1.pcapng").read_bytes()


def test_cells_are_told_apart_by_their_seeds() -> None:
    made = list(rounds(load(find("smoke"), ["seeds=1..2"])))
    half = len(made) // 2
    assert [one.number for one in made] == list(range(2 * half))
    assert made[half].cell == made[0].cell
    assert (made[0].label, made[half].label) == (
        f"{made[0].cell.label} seed 1",
        f"{made[0].cell.label} seed 2",
    )
    # One seed goes before what a file says of several.
    assert load(find("smoke"), ["seeds=1..2", "seed=3"]).all_seeds == (3,)


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        ("1..x", "no whole number and no range"),
        ("1..99999999999", "has more than 10,000"),
        (",".join(map(str, range(10_001))), "more than 10,000"),
        ("3,3", "3 stands there twice"),
    ],
)
def test_what_are_no_seeds_is_refused(seeds: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        load(find("smoke"), [f"seeds={seeds}"])


def test_one_seed_and_several_are_two_ways_to_say_it() -> None:
    with pytest.raises(UserError, match="two ways to say it"):
        rexmit.run("smoke", engine="model", seed=1, seeds="1..2")
