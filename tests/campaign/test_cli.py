"""`rexmit run` as a user types it, in a process of its own, over the fake guest."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.campaign.conftest import GUEST, SCENARIO
from tests.processes import run_command

BEFORE = """
import sys
from pathlib import Path
from rexmit.engines import kernel
import rexmit.main
kernel.find_kernel = lambda spec: kernel.KernelIdentity(
    "6.12.0-hz250-abc", Path("/no/kernel"), "6.12.0", 250, (), "abc", Path("kernel-config")
)
kernel.programs = lambda names: dict.fromkeys(names, "/bin/true")
sys.argv[0] = "rexmit"
rexmit.main.main()
"""
"""The program with a kernel that need not be built."""


def environment(**behaviour: object) -> dict[str, str]:
    return {**os.environ, "REXMIT_GUEST": str(GUEST), "REXMIT_FAKE": json.dumps(behaviour)}


def rexmit(folder: Path, *words: str, **behaviour: object) -> subprocess.CompletedProcess[str]:
    return run_command(
        [sys.executable, "-c", BEFORE, *words], cwd=folder, env=environment(**behaviour)
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_run_and_what_it_says(folder: Path) -> None:
    done = rexmit(folder, "run", "mine.toml", "--set", "network=near", "--set", "repeat=5")
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "runs").iterdir()
    assert run.name.startswith("mine-7-6.12.0-")
    assert done.stdout.startswith(f"runs/{run.name}: 30 transfers, ")
    assert f"rexmit show runs/{run.name}" in done.stdout
    # No terminal: lines, and no control characters.
    assert done.stderr.splitlines()[0] == "rexmit: 30 transfers"
    assert "rexmit: config er: net.ipv4.tcp_fack: gone since 4.15" in done.stderr
    assert "30 of 30 transfers" in done.stderr.splitlines()[-1]
    assert "\x1b" not in done.stderr + done.stdout
    meta = json.loads((run / "run.json").read_text())
    assert meta["command"] == (
        "rexmit run mine.toml --seed 7 --kernel 6.12.0-hz250-abc --set network=near --set repeat=5"
    )
    # The same command again finds the run complete; run.json repeats it as well.
    again = rexmit(folder, *meta["command"].split()[1:])
    assert again.returncode == 0
    assert "is complete already" in again.stderr
    copy = rexmit(folder, "run", str(run / "run.json"), "--out", "copy", "--json")
    assert copy.returncode == 0, copy.stderr
    said = json.loads(copy.stdout)
    assert (said["run"], said["transfers"], said["state"]) == ("copy", 30, "complete")
    table = "transfers.parquet"
    assert (folder / "copy" / table).read_bytes() == (run / table).read_bytes()


def test_failed_cells_are_reported(folder: Path) -> None:
    words = ("run", "mine.toml", "--set", "network=near", "--out", "my run")
    done = rexmit(folder, *words, die="near er 1")
    assert done.returncode == 1
    assert "failed: near er 1: the kernel died (exit status 134)" in done.stdout
    assert "  | Kernel panic - not syncing: fake" in done.stdout
    assert "--out 'my run'" in done.stdout
    assert "rexmit: cell near er 1 failed: " in done.stderr
    assert "1 cell failed" in done.stderr.splitlines()[-1]
    assert rexmit(folder, *words).returncode == 0


def test_a_kernel_that_warns_has_a_status_of_its_own(folder: Path) -> None:
    words = ("run", "mine.toml", "--set", "network=near", "--set", "repeat=2", "--out", "run")
    done = rexmit(folder, *words, splat="near er 1")
    assert done.returncode == 3
    assert "failed: near er 1: the kernel warns of a defect of its own" in done.stdout
    assert "  | WARNING: CPU: 0 PID: 9 at net/ipv4/fake.c:7" in done.stdout


def test_failures_alike_are_told_once(folder: Path) -> None:
    words = ("run", "mine.toml", "--set", "network=near", "--set", "repeat=2")
    done = rexmit(folder, *words, fail="all")
    assert done.returncode == 1
    message = "net.ipv4.tcp_x: no such setting"
    assert done.stderr.count(message) == 1
    assert "6 cells failed" in done.stderr.splitlines()[-1]
    assert f"failed: near er 0 and 5 more: {message}\n" in done.stdout


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on(folder: Path) -> None:
    words = [sys.executable, "-c", BEFORE, "run", "mine.toml", "--out", "run"]
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=environment(slow=0.01),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(folder.glob("run/partial/cell-*.record")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in errors
    assert "rexmit: stopped; " in errors
    assert "to go on: rexmit run mine.toml --seed 7 --kernel 6.12.0-hz250-abc --out run" in errors
    assert rexmit(folder, "run", "mine.toml", "--seed", "7", "--out", "run").returncode == 0


def test_a_terminal_gets_a_bar(folder: Path) -> None:
    ours, theirs = pty.openpty()
    words = ["run", "mine.toml", "--set", "network=near", "--set", "repeat=5", "--out", "run"]
    process = subprocess.Popen(
        [sys.executable, "-c", BEFORE, *words],
        cwd=folder,
        env={**environment(), "TERM": "xterm", "COLUMNS": "100"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        shown += data
    os.close(ours)
    assert process.wait(timeout=30) == 0
    assert "━" in shown.decode()
    assert "30 of 30 transfers" in shown.decode()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "SCENARIO"),
        (["run", "mine.toml", "--nonsense"], "--nonsense"),
        (["run", "mine.toml", "--jobs", "0"], "--jobs"),
        (["run", "mine.toml", "--jobs", "4000"], "--jobs 4000: more than 4 cells a core"),
        (["run", "mine.toml", "--hang-limit", "nan"], "--hang-limit"),
        (["run", "mine.toml", "--seed", str(2**64)], str(2**64 - 1)),
        (["run", "mine.toml", "--set", f"seed={2**64}"], "from 0 to 18,446,744,073,709,551,615"),
        (["run", "mine.toml", "--engine", "modle"], "there is no engine modle"),
        (["run", "mine.toml", "--engine", "model", "--kernel", "6.1"], "--kernel belongs to"),
        (["run", "mine.toml", "--engine", "model", "--hang-limit", "9"], "--hang-limit belongs to"),
        (["run", "mine.toml", "--stack", "linux-3.10"], "--stack belongs to --engine model"),
        (["run", "mine.toml", "--hz", "100"], "--hz belongs to --engine model"),
        (["run", "mine.toml", "--set", "stack.hz=100"], "--set stack.hz=100: stack.hz: a kernel"),
        (["run", "mine.toml", "--set", "repeat=x"], '--set repeat=x: repeat: "x"'),
        (["run", "your.toml"], "there is no scenario your.toml"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_usage_ends_with_2(folder: Path, words: list[str], said: str) -> None:
    done = rexmit(folder, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in folder.iterdir()] == ["mine.toml"]


def test_a_wrong_scenario_ends_with_1(folder: Path) -> None:
    (folder / "mine.toml").write_text(SCENARIO.replace("100Mbit", "100"), encoding="utf-8")
    done = rexmit(folder, "run", "mine.toml")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0].startswith("rexmit: mine.toml:6: networks.near.rate")
    assert [path.name for path in folder.iterdir()] == ["mine.toml"]


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "file").touch()
    done = rexmit(folder, "run", "mine.toml", "--out", "file/run")
    assert done.returncode == 1
    assert "file/run" in done.stderr
    assert "Traceback" not in done.stderr


def test_version_and_help(folder: Path) -> None:
    assert rexmit(folder, "--version").stdout.startswith("rexmit ")
    shown = rexmit(folder, "--help").stdout
    for command in ("run", "show", "plot", "kernel build", "kernel exec", "tcpfilter"):
        assert f"  rexmit {command} " in shown
    assert "rexmit run smoke --set network=mobile" in rexmit(folder, "run", "--help").stdout


def test_a_kernel_without_multipath_tcp_is_refused_and_nothing_is_written(folder: Path) -> None:
    (folder / "kernel-config").write_text("# CONFIG_MPTCP is not set\n", encoding="utf-8")
    done = rexmit(folder, "run", "mptcp-smoke", "--out", "here")
    assert (done.returncode, done.stdout) == (1, "")
    said = "configuration mptcp is of Multipath TCP, and the kernel 6.12.0-hz250-abc was built"
    assert said in done.stderr
    assert "CONFIG_MPTCP is not set in kernel-config" in done.stderr
    assert "--set config=tcp" in done.stderr
    assert {path.name for path in folder.iterdir()} == {"mine.toml", "kernel-config"}
    agree = rexmit(folder, "validate", "agree", "--paths", "2", "--keep", "here")
    assert agree.returncode == 125
    assert "are of Multipath TCP, and the kernel 6.12.0-hz250-abc was built" in agree.stderr
    assert not (folder / "here").exists()


def test_a_configuration_without_its_patch_is_left_out_and_named(folder: Path) -> None:
    text = SCENARIO.replace(
        "[configs.tlp]", '[configs.tlp]\n[configs.new]\npatch = "mptcp-reinject-on-tlp"'
    )
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    words = ("run", "mine.toml", "--set", "network=near", "--set", "repeat=2", "--json")
    done = rexmit(folder, *words)
    assert done.returncode == 0, done.stderr
    patch = "mptcp-reinject-on-tlp"
    said = f"configuration new is left out: it needs the patch {patch}, and 6.12.0 does not have"
    assert said in done.stderr
    meta = json.loads(done.stdout)
    assert meta["transfers"] == 12
    assert meta["scenario"]["config"] == ["er", "tlp"]
    assert any(said in warning for warning in meta["warnings"])
    asked = rexmit(folder, *words, "--set", "config=new")
    assert asked.returncode == 1
    assert "configuration new needs the patch mptcp-reinject-on-tlp" in asked.stderr
    assert "rexmit kernel build 6.12 --patch mptcp-reinject-on-tlp" in asked.stderr
