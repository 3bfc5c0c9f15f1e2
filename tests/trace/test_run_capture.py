"""What the lab writes of its own run, and an analysis of the run's captures, are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.trace.paths import compare

from rexmit.cli import app
from rexmit.store.schema import EVERY_RETRANSMISSION
from rexmit.tracing.memory import tables

SHARED = [column.name for column in EVERY_RETRANSMISSION]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tails of one, three and five segments lost, on all networks and configurations."""
    out = tmp_path_factory.mktemp("run") / "run"
    words = ["run", "tlp-2013", "--engine", "model", "--stack", "linux-6.12", "--capture"]
    words += ["--set", "repeat=2", "--set", "loss.segments=1,3,5", "--out", str(out)]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return out


def test_the_servers_capture_tells_of_every_subflow(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["run", "mptcp-2017", "--engine", "model", "--stack", "linux-6.12", "--capture"]
    words += ["--set", "repeat=1", "--set", "network=20-30,30-20,120-20", "--out", str(out)]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    own, again = compare(out)
    assert own > 30
    assert again > 30


def of_run(run: Path, transfer: dict[str, Any]) -> pl.DataFrame:
    here = [pl.col(name) == transfer[name] for name in ("cell", "repetition")]
    return pl.read_parquet(run / "retransmissions.parquet").filter(*here)


def test_the_servers_capture_tells_what_the_run_knows(run: Path) -> None:
    transfers = pl.read_parquet(run / "transfers.parquet")
    compared = 0
    for transfer in transfers.iter_rows(named=True):
        name = f"{transfer['cell']}-{transfer['repetition']}.h1.pcapng"
        traced = tables(run / "captures" / name).retransmissions.sort("time_ns")
        known = of_run(run, transfer)
        assert known.height == traced.height, transfer
        # Times are of the clock since the kernel's start in a run, of the capture's in a trace.
        for one, other in zip(
            known.select(SHARED).rows(named=True), traced.rows(named=True), strict=True
        ):
            assert one["length_bytes"] == other["length_bytes"]
            assert one["need"] == other["need"], (transfer, other)
            told = {other["mechanism"], other["runner_up"] if other["either"] else None}
            assert one["mechanism"] in told, (transfer, other)
            waited = one["time_s"] - one["first_sent_s"]
            assert other["time_s"] - other["first_sent_s"] == pytest.approx(waited, abs=2e-6)
            compared += 1
    assert compared == pl.read_parquet(run / "retransmissions.parquet").height > 100
