"""Whose the time was, of captures at both ends: each end tells what it saw, and none what it did
not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.trace.scripted import ACK, FIN, SYN, Packet, write

import rexmit
from rexmit.tracing.owners import owners
from rexmit.tracing.sentences import time

WAY = 0.01
LOST = float("inf")

Passed = list[tuple[Packet, float]]
"""Packets as they were sent, and how long each was on its way."""


def two(tmp_path: Path, passed: Passed) -> rexmit.Trace:
    """A trace of a capture beside the client and one beside the server."""
    files = [tmp_path / "client.pcap", tmp_path / "server.pcap"]
    for file, of_client in zip(files, (True, False), strict=True):
        seen = [
            one if one.by_client == of_client else replace(one, at=one.at + way)
            for one, way in passed
            if one.by_client == of_client or way < LOST
        ]
        write(file, sorted(seen, key=lambda one: one.at))
    return rexmit.trace(files)


def asked(trace: rexmit.Trace) -> dict[str, float]:
    """Seconds of each owner; those of a direction add up to the connection's duration."""
    rows = trace.scan("account").collect()
    (duration_s,) = trace.scan("connections").collect()["duration_s"]
    for _, length_ns in rows.group_by("direction").agg(pl.sum("length_ns")).iter_rows():
        assert length_ns / 1e9 == pytest.approx(duration_s, abs=1e-6)
    kept = rows.filter("asked").select("owner", pl.col("length_ns") / 1e9)
    return dict(kept.iter_rows())


def opened(way: float = WAY) -> Passed:
    return [
        (Packet(0.0, True, SYN, seq=99, id=1), way),
        (Packet(way, False, SYN | ACK, seq=499, ack=100, id=1), WAY),
        (Packet(way + WAY, True, seq=100, ack=500, id=2), WAY),
    ]


def turns(at: float, backs: list[float], lost: list[float] | None = None) -> Passed:
    """Requests one by one, each answered at once; the answers take `backs`. The first request is
    sent again after each of the `lost` waits."""
    passed: Passed = []
    for number, back in enumerate(backs):
        seq, ack = 100 + 80 * number, 500 + 900 * number
        ask = Packet(at, True, seq=seq, ack=ack, length=80)
        for wait in lost or [] if number == 0 else []:
            passed.append((replace(ask, at=at, id=100 + len(passed)), LOST))
            at += wait
        passed.append((replace(ask, at=at, id=200 + number), WAY))
        answer = Packet(at + WAY, False, seq=seq, ack=seq + 80, length=900, id=200 + number)
        passed.append((replace(answer, seq=ack), back))
        at += WAY + back + 0.0002
    seq, ack = 100 + 80 * len(backs), 500 + 900 * len(backs)
    passed.append((Packet(at, True, FIN | ACK, seq=seq, ack=ack, id=400), WAY))
    last = Packet(at + WAY, False, FIN | ACK, seq=ack, ack=seq + 1, id=400)
    passed += [(last, WAY), (Packet(at + 2 * WAY, True, seq=seq + 1, ack=ack + 1, id=401), WAY)]
    return passed


def test_a_request_that_was_lost_is_told_by_the_capture_beside_the_client(tmp_path: Path) -> None:
    of = asked(two(tmp_path, [*opened(), *turns(0.021, [WAY] * 3, lost=[0.3, 0.6])]))
    assert sum(of.get(f"recovery-{by}", 0.0) for by in ("timer", "probe")) >= 0.85
    assert "late-or-lost" not in of
    assert of["client"] < 0.01


def test_a_syn_that_was_held_is_told_by_the_capture_beside_the_client(tmp_path: Path) -> None:
    of = asked(two(tmp_path, [*opened(0.8), *turns(0.811, [WAY] * 3)]))
    assert of["connecting"] == pytest.approx(0.81, abs=0.01)


def test_the_way_back_is_no_pause_of_the_client(tmp_path: Path) -> None:
    backs = [WAY, 0.05, 0.03, 0.06, WAY, 0.3, 0.02]
    trace = two(tmp_path, [*opened(), *turns(0.021, backs)])
    of = asked(trace)
    assert of.get("between-requests", 0.0) + of.get("client", 0.0) < 0.01
    assert of.get("server", 0.0) < 0.01
    (held,) = trace.scan("account").filter("asked", pl.col("slow") > 0).collect().to_dicts()
    assert held["owner"] == "round-trip"
    assert 0.28e9 < held["longest_ns"] <= held["slow_ns"] <= held["length_ns"]


@pytest.mark.parametrize("held", ["there", "back"])
def test_the_way_that_held_packets_is_named(held: str, tmp_path: Path) -> None:
    """The server sends a segment again whose first copy, or its acknowledgement, was held."""
    there, back = (0.6, WAY) if held == "there" else (WAY, 0.6)
    passed = [*opened(), *turns(0.021, [WAY] * 2)[:-3]]
    sent = Packet(0.1, False, seq=2300, ack=260, length=900, id=500)
    passed.append((replace(passed[-2][0], at=0.07, seq=180, ack=2300, id=300, length=80), WAY))
    passed += [(sent, there), (replace(sent, at=0.4, id=501), 0.31 if held == "there" else WAY)]
    passed.append((Packet(0.1 + there, True, seq=260, ack=3200, id=301), back))
    again = Packet(0.711 if held == "there" else 0.411, True, seq=260, ack=3200, id=302)
    passed.append((replace(again, sack=(2300, 3200)), WAY if held == "there" else 0.31))
    trace = two(tmp_path, passed)
    said = [one.text for one in time.said(owners(trace), 1)]
    way = "10.0.0.1 to 10.0.0.2" if held == "there" else "10.0.0.2 to 10.0.0.1"
    assert any(f"held packets on the path from {way}, for 590 ms" in one for one in said), said
