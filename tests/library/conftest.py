"""Runs of the model, and a trace, to look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.show.captures import pcapng, transfer

import rexmit

SMALL = {"network": "mobile", "config": "er,tlp", "loss.segments": "1..2", "repeat": 2}


@pytest.fixture(scope="session")
def new(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    """Linux 6.12, with captures."""
    out = tmp_path_factory.mktemp("runs") / "new"
    return rexmit.run("tlp-2013", engine="model", settings=SMALL, out=out, capture=True)


@pytest.fixture(scope="session")
def old(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    """The same on Linux 3.10."""
    out = tmp_path_factory.mktemp("runs") / "old"
    return rexmit.run(
        "tlp-2013", engine="model", stack="linux-3.10", settings=SMALL, out=out, capture=True
    )


@pytest.fixture(scope="session")
def bursts(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    """Bursts over two paths, with captures."""
    out = tmp_path_factory.mktemp("runs") / "bursts"
    few = {"network": "20-20", "repeat": 1}
    return rexmit.run("mptcp-2017", engine="model", settings=few, out=out, capture=True)


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One connection with three retransmissions."""
    file = tmp_path_factory.mktemp("captures") / "a.pcapng"
    pcapng(file, sorted(((p.ms, p, "") for p in transfer()), key=lambda entry: entry[0]))
    return file


@pytest.fixture(scope="session")
def traced(capture: Path) -> rexmit.Trace:
    return rexmit.trace(capture)
