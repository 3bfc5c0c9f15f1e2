"""Interruptions of `rexmit trace`: nothing half written stays; of a pipe the first one waits."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.show.captures import pcapng, transfer

from rexmit.tracing.folder import open_trace


@pytest.fixture
def capture(tmp_path: Path) -> bytes:
    """The server's capture of a transfer."""
    path = tmp_path / "server.pcapng"
    packets = [(p.ms + (0 if p.server else 5), p, "") for p in transfer()]
    pcapng(path, sorted(packets, key=lambda entry: entry[0]))
    return path.read_bytes()


@contextlib.contextmanager
def started(out: Path, capture: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """`rexmit trace -` that has read something and waits for more."""
    words = [sys.executable, "-m", "rexmit", "trace", "-", "--out", str(out)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe) as program:
        try:
            assert program.stdin is not None
            program.stdin.write(capture)
            program.stdin.flush()
            deadline = time.monotonic() + 60
            while not list(out.parent.glob(".*.tmp")) and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.5)
            yield program
        finally:
            program.kill()


def told(program: subprocess.Popen[bytes]) -> str:
    """The next line on stderr."""
    assert program.stderr is not None
    return program.stderr.readline().decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_nothing_half_written_stays(tmp_path: Path, capture: bytes, number: int) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    with started(folder / "t", capture) as program:
        program.send_signal(number)
        assert program.wait(60) == 128 + number
    assert list(folder.iterdir()) == []


def test_the_second_interruption_gives_up(tmp_path: Path, capture: bytes) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    with started(folder / "t", capture) as program:
        program.send_signal(signal.SIGINT)
        assert "waiting for the pipe to end" in told(program)
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 130
    assert list(folder.iterdir()) == []


def test_after_the_first_the_end_of_the_pipe_gives_the_page(tmp_path: Path, capture: bytes) -> None:
    with started(tmp_path / "t", capture) as program:
        program.send_signal(signal.SIGINT)
        assert "waiting for the pipe to end" in told(program)
        page, _ = program.communicate(timeout=60)
        assert program.returncode == 0
    assert b"retransmissions, by what caused them" in page
    assert open_trace(tmp_path / "t").facts.packets == len(transfer())
