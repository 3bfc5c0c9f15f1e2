"""However a call of rexmit ends, its kernel ends with it and nothing of it stays here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.lab.conftest import Lab
from tests.processes import stat_fields, state

FOREVER = "echo started; sleep 1; while :; do sleep 3600; done"


@dataclass(frozen=True)
class Started:
    """A call of rexmit, the processes below it and the folder that they share."""

    process: subprocess.Popen[bytes]
    below: list[int]
    folder: Path

    def alive(self) -> list[int]:
        """Those that still run; one that nobody has buried yet does not."""
        return [pid for pid in self.below if state(pid) not in ("", "Z", "X")]

    def wait_for_the_end(self) -> None:
        """All that ran below is gone within twenty seconds."""
        until = time.monotonic() + 20
        while self.alive() and time.monotonic() < until:
            time.sleep(0.01)
        assert self.alive() == []


def descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (fields := stat_fields(int(entry.name))):
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def share_of(pids: list[int]) -> Path:
    for pid in pids:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"--share" in words:
            return Path(os.fsdecode(words[words.index(b"--share") + 1])).parent
    raise AssertionError("no guest program is running")


@contextmanager
def running(lab: Lab, *words: str) -> Iterator[Started]:
    """A command inside the kernel that has begun to run."""
    process = lab.start(*words)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        below = descendants(process.pid)
        started = Started(process, below, share_of(below))
        assert started.folder.is_dir()
        assert len(started.alive()) >= 3, "launcher, process 1 of the sandbox, kernel"
        yield started
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_everything(lab: Lab, number: int, status: int) -> None:
    with running(lab, *lab.exec_words("sh", "-c", FOREVER)) as started:
        started.process.send_signal(number)
        assert started.process.wait(timeout=30) == status
        started.wait_for_the_end()
        assert not started.folder.exists()
        assert started.process.stderr is not None
        assert started.process.stderr.read() == b"rexmit: stopped\n"


def test_a_signal_ends_a_command_that_spins(lab: Lab) -> None:
    script = "echo started; sleep 1; while :; do :; done"
    with running(lab, *lab.exec_words("sh", "-c", script)) as started:
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(timeout=30) == 130
        started.wait_for_the_end()
        assert not started.folder.exists()


def test_a_kernel_does_not_outlive_a_caller_that_is_killed(anyone: Lab) -> None:
    with running(anyone, *anyone.exec_words("sh", "-c", FOREVER)) as started:
        started.process.kill()
        started.process.wait()
        started.wait_for_the_end()
    # Nobody was left to remove the folder; the next call does.
    anyone.exec("true").ok()
    assert not started.folder.exists()


def test_the_launcher_takes_the_kernel_with_it(lab: Lab) -> None:
    with running(lab, *lab.exec_words("sh", "-c", FOREVER)) as started:
        launcher = started.below[0]
        os.kill(launcher, signal.SIGKILL)
        assert started.process.wait(timeout=30) == 125
        started.wait_for_the_end()
        assert not started.folder.exists()
        assert started.process.stderr is not None
        assert b"signal 9" in started.process.stderr.read()


def test_a_kernel_that_is_killed_is_reported(lab: Lab) -> None:
    with running(lab, *lab.exec_words("sh", "-c", FOREVER)) as started:
        for pid in started.below[2:]:
            # The first may take the others along.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert started.process.wait(timeout=30) == 125
        started.wait_for_the_end()
        assert not started.folder.exists()
        assert started.process.stderr is not None
        said = started.process.stderr.read().decode()
    assert "the kernel died (exit status 137)" in said
    assert "Run /.rexmit-init as init process" in said, "its last words"


def test_a_command_that_ends_leaves_nothing(anyone: Lab) -> None:
    script = (
        'echo started; sleep 1; echo x > "$REXMIT_SCRATCH/f"; mkdir /tmp/d; sleep 20000; exit 5'
    )
    with running(anyone, *anyone.exec_words("sh", "-c", script)) as started:
        assert started.process.wait(timeout=30) == 5
        started.wait_for_the_end()
        assert not started.folder.exists()


def test_temporary_files_go_where_they_should_and_go_away(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    words = lab.exec_words("sh", "-c", "ls /tmp; sleep 1")
    lab.rexmit(*words, env={"TMPDIR": str(folder)}).ok()
    assert list(folder.iterdir()) == []
    run = lab.try_run(
        "network=high-speed", "config=tlp", "repeat=1", "loss.segments=1", options=("--capture",)
    )
    run.done.ok()
    kept = sorted(path.name for path in run.path.rglob("*") if path.is_file())
    tables = ["retransmissions.parquet", "run.json", "transfers.csv", "transfers.parquet"]
    assert kept == ["0-0.h1.pcapng", "0-0.h2.pcapng", *tables]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_campaign_that_is_ended_leaves_no_kernel(lab: Lab, tmp_path: Path, number: int) -> None:
    words = lab.run_words(tmp_path / "run", "repeat=100", options=("--jobs", "2"))
    process = lab.start(*words)
    try:
        while len(below := descendants(process.pid)) < 8:
            assert process.poll() is None
            time.sleep(0.01)
        started = Started(process, below, share_of(below))
        process.send_signal(number)
        assert process.wait(timeout=60) == (-9 if number == signal.SIGKILL else 128 + number)
        started.wait_for_the_end()
        if number == signal.SIGKILL:
            lab.exec("true").ok()
        assert not started.folder.exists()
    finally:
        process.kill()
        process.communicate()
