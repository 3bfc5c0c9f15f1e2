"""Who can reach a cluster of this machine: nobody but the command that started it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.conftest import credentials
from tests.cluster.workers import PSUTIL
from tests.processes import end_with_parent

CAPTURE = Path(__file__).parents[1] / "real/captures/dcerpc.pcap"

WORKERS = 2

NODES = ["LocalScheduler", *WORKERS * ["LocalWorker"], *WORKERS * ["Nanny"]]
"""What listens: of each worker its nanny, too."""

BENCH = ("network=mobile", "repeat=20000")
"""More than the tests wait for."""

PIPE = "capture.pcap"

COMMANDS = {
    # Of a pipe into which nothing is written.
    "trace": ["trace", PIPE, "--out", "out"],
    "run": ["run", "tlp-2013", "--engine", "model", "--set", BENCH[0], "--set", BENCH[1]],
    "validate": ["validate", "sensitivity", "tlp-2013-bench", "--repeat", "20000"],
}


@contextlib.contextmanager
def at_work(words: Sequence[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a folder, where its temporary files lie too, until it is interrupted."""
    (folder / "tmp").mkdir()
    os.mkfifo(folder / PIPE)
    # What another user may have put there.
    (folder / "tmp" / "dask-scratch-space").mkdir(mode=0o777)
    with subprocess.Popen(
        [sys.executable, "-m", "rexmit", *words, "--cluster", f"local:{WORKERS}"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=end_with_parent,
    ) as run:
        try:
            yield run
        finally:
            run.kill()


def tree(run: subprocess.Popen[bytes]) -> list[Any]:
    """A command's processes."""
    one = PSUTIL.Process(run.pid)
    return [one, *one.children(recursive=True)]


def listening(run: subprocess.Popen[bytes]) -> set[int]:
    """The ports on which a command's processes listen, once all are there."""
    end = time.monotonic() + 120
    found: set[tuple[str, int]] = set()
    while time.monotonic() < end and run.poll() is None:
        found = set()
        for process in tree(run):
            with contextlib.suppress(PSUTIL.NoSuchProcess):
                for one in process.net_connections("inet"):
                    if one.status == "LISTEN":
                        found.add(tuple(one.laddr))
        if len(found) >= len(NODES):
            break
        time.sleep(0.2)
    assert {host for host, _ in found} == {"127.0.0.1"}, (found, run.poll())
    return {port for _, port in found}


def identities(ports: set[int], scheme: str = "tls", cert: Path | None = None) -> list[str]:
    """What all that listen say to a stranger."""
    words = [sys.executable, "-m", "tests.cluster.stranger", scheme, str(cert or "")]
    told = subprocess.run([*words, *map(str, ports)], capture_output=True, text=True, check=True)
    return told.stdout.split()


def http_answer(port: int) -> bytes:
    """What a port says to a browser."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with contextlib.suppress(OSError):
            return one.recv(4)
    return b""


@pytest.mark.slow
@pytest.mark.parametrize("name", list(COMMANDS))
def test_strangers_are_refused(name: str, tmp_path: Path) -> None:
    with at_work(COMMANDS[name], tmp_path) as run, (tmp_path / PIPE).open("r+b", 0) as pipe:
        ports = listening(run)
        # All three kinds of nodes are there, and answer whoever has the command's own.
        (pem,) = (tmp_path / "tmp").glob("rexmit-*/cluster.pem")
        assert sorted(identities(ports, cert=pem)) == NODES
        assert not identities(ports, "tcp")
        assert not identities(ports)
        assert not identities(ports, cert=credentials(tmp_path))
        assert not any(http_answer(port).startswith(b"HTTP") for port in ports)
        # Nothing tells a stranger how to get in, nor waits for what he puts in its way.
        assert stat.S_IMODE(pem.stat().st_mode) == 0o600
        assert stat.S_IMODE(pem.parent.stat().st_mode) == 0o700
        secret = pem.read_text().partition("PRIVATE KEY-----\n")[2].split()[0].encode()
        for process in tree(run):
            for file in ("cmdline", "environ"):
                assert secret not in Path(f"/proc/{process.pid}/{file}").read_bytes()
        assert not list((tmp_path / "tmp" / "dask-scratch-space").iterdir())
        # All of them are as well as before.
        assert listening(run) == ports
        if name == "trace":
            pipe.write(CAPTURE.read_bytes())
            pipe.close()
        else:
            run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    assert run.returncode == (0 if name == "trace" else 130), errors
    lines = errors.decode().splitlines()
    assert all(line.startswith(("rexmit: ", "  to go on: ")) for line in lines), errors
    assert not pem.exists()
