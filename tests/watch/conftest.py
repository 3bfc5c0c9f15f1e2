"""A capture to replay, and `rexmit watch - --rotate` as a process."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from tests.watch.replay import Replay

import rexmit

PATIENCE_S = 60.0


@pytest.fixture(scope="session")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    """Of forty connections of the model."""
    folder = tmp_path_factory.mktemp("synth")
    rexmit.synth(
        out=folder / "c", mix="campus", connections=40, seed=7, points=["sender"], format="pcap"
    )
    (capture,) = (folder / "c" / "captures").glob("*.pcap")
    return Replay(capture.read_bytes())


class Always:
    """The program at work; what it is written comes by `write`."""

    def __init__(self, out: Path, *words: str, source: str = "-") -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = ["watch", source, "--out", str(out), "--metrics", str(self.port), *words]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rexmit", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def scraped(self) -> dict[str, float]:
        """Every sample, by its name and labels; nothing while it does not listen yet."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/metrics",
            headers={"Accept": "application/openmetrics-text; version=1.0.0"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
                assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
                text = answer.read().decode()
        except OSError:
            return {}
        return {
            sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
            for sample in family.samples
        }

    def until(self, reached: Callable[[dict[str, float]], bool]) -> dict[str, float]:
        """Waits until the counts are such."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = self.scraped()
            if found and reached(found):
                return found
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.05)
        raise AssertionError("it never came to that")

    def end(self) -> tuple[int, str]:
        """Ends the pipe; the exit status, and what it said."""
        _, said = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, said.decode()

    def ended(self) -> tuple[int, str]:
        """As `end`, of a process that ends of itself while the pipe is open."""
        self.process.wait(timeout=PATIENCE_S)
        assert self.process.stderr is not None
        return self.process.returncode, self.process.stderr.read().decode()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Always]]:
    """Starts the program; it is killed at the end of the test, should it still be there."""
    begun = []

    def begin(*words: str, out: Path | None = None, source: str = "-") -> Always:
        begun.append(Always(out or tmp_path / "out", *words, source=source))
        return begun[-1]

    yield begin
    for one in begun:
        if one.process.poll() is None:
            one.process.kill()
        for pipe in (one.process.stdin, one.process.stdout, one.process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        one.process.wait()
