"""A cluster as a user starts one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from tests.cluster.workers import nothing_left
from tests.processes import end_with_parent
from tests.sources.servers import free_port


@dataclass
class Scheduler:
    """A Dask scheduler, and the workers that `worker` starts there."""

    address: str
    process: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def worker(self, **variables: str) -> subprocess.Popen[bytes]:
        """Starts one, with these variables in its environment."""
        words = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "20"]
        one = _start("dask_worker", f"tcp://{self.address}", *words, **variables)
        self.workers.append(one)
        return one


def _start(program: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{program}", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **variables},
        preexec_fn=end_with_parent,
    )


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    """A scheduler without workers. All of it ends with the test."""
    with nothing_left():
        port = free_port()
        words = ["--no-dashboard", "--host", "127.0.0.1", "--port", str(port)]
        there = Scheduler(f"127.0.0.1:{port}", _start("dask_scheduler", *words))
        try:
            yield there
        finally:
            for one in (there.process, *there.workers):
                one.kill()
                one.wait()
