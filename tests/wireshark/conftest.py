"""A capture with retransmissions by most mechanisms, and the program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import rexmit

REAL = Path(__file__).parents[1] / "real" / "captures"

Program = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures at three points of sixty connections of the model: POINT.pcap."""
    folder = tmp_path_factory.mktemp("corpus")
    rexmit.synth(
        out=folder / "c",
        mix="campus",
        connections=60,
        seed=5,
        points=["sender", "switch", "receiver"],
        format="pcap",
    )
    for capture in (folder / "c" / "captures").glob("*.pcap"):
        capture.rename(folder / f"{capture.stem.rpartition('-')[2]}.pcap")
    return folder


@pytest.fixture(scope="session")
def capture(corpus: Path) -> Path:
    """The one at the sender."""
    return corpus / "sender.pcap"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Runs `rexmit trace` with these words."""
    return _command("trace", tmp_path)


@pytest.fixture
def watch(tmp_path: Path) -> Program:
    """Runs `rexmit watch` with these words."""
    return _command("watch", tmp_path)


def _command(name: str, folder: Path) -> Program:
    def run(*words: str | Path, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "rexmit", name, *map(str, words)],
            input=stdin if stdin is not None else b"",
            capture_output=True,
            check=False,
            cwd=folder,
            timeout=300,
        )

    return run
