"""Small campaigns on the model itself: the same bits every time, captures, interruptions."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import variance

import polars as pl
import pytest
from tests.processes import run_command

from rexmit.store.folder import TABLES

GRID = (
    *("--set", "network=high-speed,satellite"),
    *("--set", "loss.segments=0,1,5"),
    *("--set", "repeat=10"),
)
"""18 cells of 10 transfers."""


def words(out: Path, *more: str) -> list[str]:
    begin = [sys.executable, "-m", "rexmit", "run", "tlp-2013", "--engine", "model"]
    return [*begin, "--out", str(out), *more]


def rexmit(out: Path, *more: str) -> str:
    done = run_command(words(out, *more))
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(out: Path) -> dict[str, bytes]:
    return {name: (out / name).read_bytes() for name in TABLES}


@pytest.mark.parametrize("stack", ["linux-3.10", "linux-6.12"])
def test_rows_do_not_depend_on_jobs(tmp_path: Path, stack: str) -> None:
    for jobs in ("1", "4"):
        rexmit(tmp_path / jobs, *GRID, "--stack", stack, "--jobs", jobs)
    assert files(tmp_path / "1") == files(tmp_path / "4")
    table = pl.read_parquet(tmp_path / "1" / "transfers.parquet")
    assert table.height == 180
    assert table["complete"].all()
    assert table["exact"].all()
    assert table.filter(pl.col("lost_segments") > 0)["t_recover_s"].is_not_null().all()
    meta = json.loads((tmp_path / "1" / "run.json").read_text())
    assert meta["model"]["stacks"]["tlp"]["settings"]["hz"] == "250"
    # The command that it names makes the same run.
    again = subprocess.run(
        [sys.executable, "-m", *meta["command"].split(), "--out", str(tmp_path / "again")],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert again.returncode == 0
    assert files(tmp_path / "again") == files(tmp_path / "1")


LOSSY = """
format = 1
repeat = 60
[networks.lossy]
rate = "10Mbit"
delay = "25ms"
jitter = "1ms"
loss = "1%"
{configs}
[loss]
segments = 2
"""


def drawn(tmp_path: Path, name: str, *configs: str) -> pl.DataFrame:
    """The transfers of a scenario with these tables, on a lossy line."""
    (tmp_path / f"{name}.toml").write_text(LOSSY.format(configs="\n".join(configs)))
    out = tmp_path / name
    words = [sys.executable, "-m", "rexmit", "run", str(tmp_path / f"{name}.toml")]
    done = run_command([*words, "--engine", "model", "--out", str(out)])
    assert done.returncode == 0, done.stderr
    return pl.read_parquet(out / "transfers.parquet")


ON = '"net.ipv4.tcp_sack" = 1\n"net.ipv4.tcp_early_retrans" = 3'
OFF = '"net.ipv4.tcp_early_retrans" = 0\n"net.ipv4.tcp_sack" = 1'


def test_names_and_orders_change_no_row(tmp_path: Path) -> None:
    one = drawn(tmp_path, "one", f"[configs.tlp.sysctl]\n{ON}", f"[configs.b.sysctl]\n{OFF}")
    turned = "\n".join(reversed(ON.splitlines()))
    two = drawn(tmp_path, "two", f"[configs.b.sysctl]\n{OFF}", f"[configs.a.sysctl]\n{turned}")
    for name, other in (("tlp", "a"), ("b", "b")):
        first, second = (
            table.filter(config=config).drop("config", "cell")
            for table, config in ((one, name), (two, other))
        )
        assert first.height == 60
        assert first.equals(second)


def test_a_paired_difference_varies_less_than_an_unpaired_one(tmp_path: Path) -> None:
    found = drawn(tmp_path, "run", f"[configs.on.sysctl]\n{ON}", f"[configs.off.sysctl]\n{OFF}")
    on, off = (found.filter(config=config)["t_total_s"] for config in ("on", "off"))
    # What is drawn is the same: ports and sequence numbers, phases, the packets that are lost.
    for column in ("isn_server", "isn_client", "client_port", "phase_s"):
        a, b = (found.filter(config=config)[column] for config in ("on", "off"))
        assert a.equals(b)
        assert a.n_unique() > 50
    differences = [one - other for one, other in zip(on, off, strict=True)]
    assert max(differences) - min(differences) > 0.01
    assert variance(differences) < 0.5 * (variance(on) + variance(off))


def test_a_setting_of_the_stack_changes_what_it_says(tmp_path: Path) -> None:
    one = ("--set", "network=high-speed", "--set", "config=er", "--set", "loss.segments=5")
    rexmit(tmp_path / "own", *one, "--set", "repeat=5")
    rexmit(tmp_path / "slow", *one, "--set", "repeat=5", "--set", "stack.min_rto=400ms")
    own, slow = (
        pl.read_parquet(tmp_path / name / "transfers.parquet")["t_recover_s"].to_list()
        for name in ("own", "slow")
    )
    assert max(own) < 0.3
    assert min(slow) > 0.4


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    big = ("--set", "repeat=150", "--set", "loss.segments=0..20", "--jobs", "1")
    grid = ("--set", "network=high-speed", "--set", "config=tlp", *big)
    cut = tmp_path / "cut"
    process = subprocess.Popen(
        words(cut, *grid), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while not list(cut.glob("partial/cell-*.record")):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    if process.returncode:
        assert "to go on: rexmit run tlp-2013 --seed 1 --engine model --stack" in errors
        assert 0 < len(list(cut.glob("partial/cell-*.record"))) < 21
    rexmit(cut, *grid)
    rexmit(tmp_path / "whole", *grid)
    assert files(cut) == files(tmp_path / "whole")


def test_a_captured_transfer_is_a_ladder(tmp_path: Path) -> None:
    out = tmp_path / "run"
    one = ("--set", "network=mobile", "--set", "config=tlp", "--set", "loss.segments=5")
    rexmit(out, *one, "--set", "repeat=1", "--capture")
    done = run_command([sys.executable, "-m", "rexmit", "show", str(out), "--flow", "0"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("dropped") == 5
    assert "retransmission: tlp" in done.stdout


def test_captures_of_several_cells_are_not_taken_together(tmp_path: Path) -> None:
    out = tmp_path / "run"
    one = ("--set", "network=mobile", "--set", "config=tlp,er", "--set", "loss.segments=5")
    rexmit(out, *one, "--set", "repeat=2", "--capture")
    trace = [sys.executable, "-m", "rexmit", "trace", "--whatif", "none"]
    done = run_command([*trace, *map(str, sorted(out.glob("captures/*.h1.pcapng")))])
    assert done.returncode == 1
    assert "these captures are of 2 cells" in done.stderr
    assert f"give those of one cell: {out}/captures/0-*.h1.pcapng" in done.stderr
    done = run_command([*trace, *map(str, sorted(out.glob("captures/1-*.pcapng")))])
    assert done.returncode == 0, done.stderr
    assert "2 connections" in done.stdout


def test_what_the_model_does_not_have_is_refused(tmp_path: Path) -> None:
    done = run_command(words(tmp_path / "run", "--stack", "linux-3.11"))
    assert done.returncode == 2
    assert "rexmit: there is no stack linux-3.11" in done.stderr
    assert "did you mean linux-3.10?" in done.stderr
    assert list(tmp_path.iterdir()) == []
