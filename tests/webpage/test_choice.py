"""Which connections' packets a page has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.diff.served import Site

import rexmit


def test_the_packets_of_slow_connections_are_there_though_nothing_was_retransmitted(
    tmp_path: Path,
) -> None:
    quick = Site(connections=3, requests=2, think_s=0.01)
    slow = replace(quick, connections=1, think_s=2.5, start_s=10, port=50_000)
    a, b = quick.write(tmp_path / "a.pcap"), slow.write(tmp_path / "b.pcap")
    made = rexmit.report([a, b], tmp_path / "page.html", packets=60)
    (rule,) = made.rules
    assert "of 1 of 4 connections: of those that were slow or retransmitted" in rule
    text = (tmp_path / "page.html").read_text()
    assert 'id="packets-0-3"' in text
    assert 'id="packets-0-0"' not in text
