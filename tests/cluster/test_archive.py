"""`scripts/synthetic-archive`: pieces made as they are asked for, analysed alone and by workers."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_small_share_of_a_day(tmp_path: Path) -> None:
    words = [sys.executable, str(ROOT / "scripts" / "synthetic-archive"), "--pieces", "3"]
    words += ["--connections", "60", "--workers", "2", "--alone", "--json", "--keep", str(tmp_path)]
    # It compares the tables itself, and fails where they differ.
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    alone, spread = json.loads(done.stdout)
    assert alone["packets"] == spread["packets"] > 3000
    assert spread["packets"] % 3 == 0
    assert spread["worker_mb"] > 0
    flows = pl.read_parquet(tmp_path / "alone" / "connections.parquet")["flow"]
    # Each piece has addresses of its own; a few connections have the ports of earlier ones.
    assert flows.len() % 3 == 0
    assert flows.n_unique() >= 0.9 * flows.len() >= 3 * 50
    facts = json.loads((tmp_path / "alone" / "trace.json").read_text())["facts"]
    spans = [(file["first_s"], file["last_s"]) for file in facts["files"]]
    assert all(last < first for (_, last), (first, _) in pairwise(spans))
