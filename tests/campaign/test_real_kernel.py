"""Small campaigns on a real kernel in virtual time: right numbers, the same bits every time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from tests.processes import run_command

pytestmark = pytest.mark.kernel

GRID = (
    *("--set", "network=high-speed,satellite"),
    *("--set", "config=er,tlp"),
    *("--set", "loss.segments=0,1,5"),
    *("--set", "repeat=20"),
)
"""12 cells of 20 transfers."""


def command(out: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "rexmit", "run", "tlp-2013", "--out", str(out), *words]


def rexmit(out: Path, *words: str) -> None:
    done = run_command(command(out, *words))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two kernels at a time."""
    out = tmp_path_factory.mktemp("real") / "whole"
    rexmit(out, *GRID, "--jobs", "2")
    return out


def tables(run: Path) -> dict[str, bytes]:
    names = ("transfers.parquet", "transfers.csv", "retransmissions.parquet")
    return {name: (run / name).read_bytes() for name in names}


def test_a_small_campaign_measures_what_it_should(whole: Path) -> None:
    meta = json.loads((whole / "run.json").read_text())
    assert (meta["transfers"], meta["failed_cells"]) == (240, [])
    assert meta["peak_memory_bytes"] < 700_000_000
    assert "net.ipv4.tcp_fack" in str(meta["ignored_settings"])
    table = pl.read_parquet(whole / "transfers.parquet")
    assert table["complete"].all()
    assert table["exact"].all()
    assert (table["dropped_segments"] == table["lost_segments"]).all()
    assert (table["transfer_segments"] == 100).all()
    numbers = table.group_by("cell").agg(pl.col("isn_server").n_unique())
    assert (numbers["isn_server"] == 20).all()
    five = table.filter(pl.col("network") == "high-speed", pl.col("lost_segments") == 5)
    means = dict(five.group_by("config").agg(pl.col("t_recover_s").mean()).rows())
    # An independent prototype had 0.237 and 0.047 at HZ 100; a tick or two may lie between.
    assert means["er"] == pytest.approx(0.230, abs=0.015)
    assert means["tlp"] == pytest.approx(0.040, abs=0.015)
    # Phases differ, so that a standard deviation says something.
    assert five.filter(config="er")["t_recover_s"].n_unique() > 10


def test_jobs_and_interruptions_change_no_bit(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut"
    process = subprocess.Popen(
        command(out, *GRID, "--jobs", "1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not list(out.glob("partial/cell-*.record")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert not (out / "transfers.parquet").exists()
    rexmit(out, *GRID, "--jobs", "3")
    assert tables(out) == tables(whole)


def test_a_selected_cell_has_the_rows_of_the_whole_grid(whole: Path, tmp_path: Path) -> None:
    chosen = ("network=satellite", "config=tlp", "loss.segments=5")
    rexmit(tmp_path / "one", *GRID, *(word for key in chosen for word in ("--set", key)))
    for name in ("transfers.parquet", "retransmissions.parquet"):
        one = pl.read_parquet(tmp_path / "one" / name)
        there = pl.read_parquet(whole / name).filter(
            network="satellite", config="tlp", lost_segments=5
        )
        assert one["cell"].unique().to_list() == [0]
        assert there["cell"].unique().to_list() == [11]
        assert one.height >= 20
        assert one.drop("cell").equals(there.drop("cell"))


def test_configurations_that_behave_alike_differ_by_microseconds(tmp_path: Path) -> None:
    words = ("network=high-speed,mobile", "config=plain,er", "loss.segments=5", "repeat=10")
    rexmit(tmp_path / "run", *(word for key in words for word in ("--set", key)))
    table = pl.read_parquet(tmp_path / "run" / "transfers.parquet")
    # Both wait for the same timeout. A look at the clock costs 256 ns, and kernels with other
    # seeds take a few more or fewer.
    for network, about in (("high-speed", 0.2259), ("mobile", 0.4655)):
        plain, er = (
            table.filter(network=network, config=config)["t_recover_s"].to_list()
            for config in ("plain", "er")
        )
        assert plain == pytest.approx(er, abs=5e-6)
        assert sum(plain) / 10 == pytest.approx(about, rel=0.1)
        # Phases differ all the same.
        assert max(plain) - min(plain) > 0.002


def test_a_name_changes_no_row(tmp_path: Path) -> None:
    file = tmp_path / "names.toml"
    file.write_text(
        'format = 1\nrepeat = 5\n[networks.lossy]\nrate = "10Mbit"\ndelay = "25ms"\nloss = "3%"\n'
        "[configs.tlp]\n[configs.of-another-name]\n[configs.off.sysctl]\n"
        '"net.ipv4.tcp_early_retrans" = 0\n[loss]\nsegments = 2\n'
    )
    out = tmp_path / "run"
    done = run_command([sys.executable, "-m", "rexmit", "run", str(file), "--out", str(out)])
    assert done.returncode == 0, done.stdout + done.stderr
    table = pl.read_parquet(out / "transfers.parquet")
    one, two, off = (
        table.filter(config=name).drop("config", "cell")
        for name in ("tlp", "of-another-name", "off")
    )
    assert one.equals(two)
    assert one["t_total_s"].to_list() != off["t_total_s"].to_list()


def test_another_seed_changes_the_rows(whole: Path, tmp_path: Path) -> None:
    rexmit(tmp_path / "other", *GRID, "--set", "network=high-speed", "--seed", "2")
    mine = pl.read_parquet(tmp_path / "other" / "transfers.parquet")
    theirs = pl.read_parquet(whole / "transfers.parquet").filter(network="high-speed")
    assert not set(mine["isn_server"]) & set(theirs["isn_server"])


def test_what_the_kernel_refuses_fails_its_cells_only(tmp_path: Path) -> None:
    setting = "configs.tlp.sysctl.net.ipv4.tcp_nonsense=1"
    words = (*GRID, "--set", "network=high-speed", "--set", "repeat=2", "--set", setting)
    done = run_command(command(tmp_path / "run", *words))
    assert done.returncode == 1
    assert "net.ipv4.tcp_nonsense" in done.stdout
    table = pl.read_parquet(tmp_path / "run" / "transfers.parquet")
    assert set(table["config"]) == {"er"}
