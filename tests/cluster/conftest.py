"""A cluster as a user starts one."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.workers import nothing_left
from tests.processes import end_with_parent
from tests.sources.servers import free_port


@dataclass
class Scheduler:
    """A Dask scheduler, and the workers that `worker` starts there."""

    address: str
    process: subprocess.Popen[bytes]
    files: tuple[str, ...] = ()
    """Options of Dask that name certificates."""
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def worker(self, **variables: str) -> subprocess.Popen[bytes]:
        """Starts one, with these variables in its environment."""
        words = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--death-timeout", "20"]
        address = self.address if "://" in self.address else f"tcp://{self.address}"
        one = _start("dask_worker", address, *words, *self.files, **variables)
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


def credentials(folder: Path, name: str = "own") -> Path:
    """A certificate that is its own authority, and its key."""
    from distributed import Security

    made: Any = Security
    own = made.temporary()
    file = folder / f"{name}.pem"
    file.write_text(own.tls_client_cert + own.tls_client_key)
    return file


@contextlib.contextmanager
def started(*files: str) -> Iterator[Scheduler]:
    """A scheduler without workers. All of it ends with the test."""
    with nothing_left():
        port = free_port()
        words = ["--no-dashboard", "--host", "127.0.0.1", "--port", str(port), *files]
        there = Scheduler(f"127.0.0.1:{port}", _start("dask_scheduler", *words), files)
        try:
            yield there
        finally:
            for one in (there.process, *there.workers):
                one.kill()
                one.wait()


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    """One that speaks without TLS."""
    with started() as there:
        yield there


@pytest.fixture
def tls_scheduler(tmp_path: Path) -> Iterator[Scheduler]:
    """One that takes those who have `cluster.pem`."""
    pem = str(credentials(tmp_path, "cluster"))
    files = [word for name in ("ca-file", "cert", "key") for word in (f"--tls-{name}", pem)]
    with started("--protocol", "tls", *files) as there:
        there.address = f"tls://{there.address}"
        there.files = tuple(files)
        yield there
