"""Captures of kernels before and after a change."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.lab.conftest import Lab
from tests.lab.test_requests import TALKS_FILE

import rexmit
from rexmit.comparison.traces.compare import TraceComparison


def compared(lab: Lab, folder: Path, after: str) -> TraceComparison:
    """A server that answers in the clear, and a talk after it."""
    captures = []
    for place, talk in (("before", "kept"), ("after", after)):
        made = folder / place
        network = ("networks.high-speed.delay=5ms", "networks.high-speed.rate=100Mbit")
        options = (*lab.on_network("network=high-speed", *network), "--keep", str(made))
        lab.exec(sys.executable, str(TALKS_FILE), talk, options=options).ok()
        captures.append(made / f"{talk}.server.pcap")
    found = rexmit.diff(*captures)
    assert isinstance(found, TraceComparison)
    return found


def test_nothing_differs_where_nothing_was_changed(lab: Lab, tmp_path: Path) -> None:
    assert compared(lab, tmp_path, "kept").identical


def test_what_tls_takes_is_named(lab: Lab, tmp_path: Path) -> None:
    found = compared(lab, tmp_path, "tls")
    # One connection each: how much others would differ is not known.
    longer = {
        one.of
        for one in found.judged("not-known")
        if one.metric == "time" and one.apart.difference > 0
    }
    assert "tls-set-up" in longer
    assert "server" not in longer
    assert "GET shop.example/20 of 10.0.0.1:8080" in found.only_a
