"""What is left where the program, or a scheduler, is killed: nothing, after some seconds."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cluster.conftest import Scheduler
from tests.cluster.workers import PSUTIL, workers_of
from tests.processes import end_with_parent

LONG = ("run", "tlp-2013", "--set", "repeat=50000", "--set", "network=mobile")
"""More than these tests wait for."""


def _at_work(cluster: str, out: Path, *engine: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "rexmit", *LONG, *engine, "--cluster", cluster]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*words, "--out", str(out)], preexec_fn=end_with_parent, **quiet)  # type: ignore[call-overload,no-any-return]


def _until_busy(workers: list[int], seconds: float) -> None:
    """Until each of these processes, with what it started, is past its imports and at work."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if all(_busy_s(pid) > 4 for pid in workers):
            return
        time.sleep(0.1)
    raise AssertionError("workers are not at work")


def _busy_s(pid: int) -> float:
    one = PSUTIL.Process(pid)
    busy_s = 0.0
    for each in (one, *one.children(recursive=True)):
        # What a kernel ran may be over by now.
        with suppress(PSUTIL.NoSuchProcess):
            times = each.cpu_times()
            busy_s += times.user + times.system
    return busy_s


@pytest.mark.parametrize("engine", ["model", pytest.param("kernel", marks=pytest.mark.kernel)])
def test_workers_end_with_the_program(engine: str, tmp_path: Path) -> None:
    run = _at_work("local:2", tmp_path / "run", "--engine", engine)
    try:
        workers: list[int] = []
        end = time.monotonic() + 120
        while len(workers) < 2 and time.monotonic() < end:
            workers = [one.pid for one in workers_of(run.pid)]
            time.sleep(0.1)
        _until_busy(workers, 180)
        # Their kernels, too.
        below = PSUTIL.Process(run.pid).children(recursive=True)
        assert len(below) >= (2 if engine == "model" else 6)
    finally:
        run.kill()
        run.wait()
    _, alive = PSUTIL.wait_procs(below, timeout=20)
    assert not alive


def test_workers_end_with_their_scheduler(scheduler: Scheduler, tmp_path: Path) -> None:
    worker = scheduler.worker()
    run = _at_work(scheduler.address, tmp_path / "run", "--engine", "model")
    try:
        _until_busy([worker.pid], 180)
        scheduler.process.kill()
        worker.wait(timeout=60)
        # Without it, the program ends and says so.
        assert run.wait(timeout=180) == 1
    finally:
        run.kill()
        run.wait()


def test_workers_end_that_find_no_scheduler(scheduler: Scheduler) -> None:
    scheduler.process.kill()
    scheduler.process.wait()
    assert scheduler.worker().wait(timeout=120) != 0
