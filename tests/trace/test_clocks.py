"""Clocks that were set while the capture ran, and directions that are recorded by clocks apart."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.trace.scripted import Packet, stamped, write, write_interfaces

from rexmit.tracing.options import Analysis
from rexmit.tracing.run import run

LOST_AT_S = 1.05
"""When the packet of `stamped` that is sent again was sent first."""


def told(path: Path, packets: list[Packet]) -> tuple[list[dict[str, Any]], str, list[float | None]]:
    """The rows of a capture of these packets, its warnings, and the server's round-trip times."""
    return told_of(write(path / "kind.pcap", packets))


def told_of(capture: Path) -> tuple[list[dict[str, Any]], str, list[float | None]]:
    trace = run([capture], capture.with_suffix(".trace"), Analysis(jobs=1))
    found = trace.scan("retransmissions").collect().rows(named=True)
    sides = trace.scan("sides").collect().rows(named=True)
    rtts = [one["rtt_max_s"] for one in sides if one["direction"] == "backward"]
    shutil.rmtree(capture.with_suffix(".trace"))
    return found, " ".join(trace.facts.warnings), rtts


def bare(packets: list[Packet]) -> list[Packet]:
    """The same without stamps."""
    return [replace(one, stamps=None) for one in packets]


def set_at(when: float, by: float) -> Callable[[list[Packet]], list[Packet]]:
    """The capture's clock is set at that time."""
    return lambda packets: [
        replace(one, at=one.at + (by if one.at > when else 0)) for one in packets
    ]


@pytest.mark.parametrize(
    ("by", "before"),
    [(by, before) for by in (-100.0, -0.4, 5.0, 100.0) for before in (0.3, -0.1)] + [(-0.128, 0.3)],
)
def test_stamps_tell_the_time_across_a_clock_that_was_set(
    tmp_path: Path, by: float, before: float
) -> None:
    packets = stamped()
    [row], _, rtts = told(tmp_path, packets)
    [after], warnings, moved = told(tmp_path, set_at(LOST_AT_S - before, by)(packets))
    assert "the capture's clock was set" in warnings
    for name in ("mechanism", "need", "evidence"):
        assert after[name] == row[name]
    assert after["detection_s"] == pytest.approx(row["detection_s"], abs=2e-3)
    assert moved == pytest.approx(rtts, abs=2e-3)
    # A reader finds the packet by the time that it has in the file.
    assert after["time_s"] == pytest.approx(row["time_s"] + by, abs=1e-6)
    first = row["first_sent_s"] + (by if before > 0 else 0)
    assert after["first_sent_s"] == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize("by", [-100.0, -0.4])
def test_without_stamps_the_time_across_is_unknown(tmp_path: Path, by: float) -> None:
    [row], warnings, _ = told(tmp_path, set_at(LOST_AT_S + 0.1, by)(bare(stamped())))
    assert "the capture's clock was set" in warnings
    times = [row[name] for name in ("detection_s", "detection_most_s", "timer_s")]
    assert times == [None] * 3
    assert (row["need"], row["evidence"], row["mechanism"]) == ("unknown", "none", "unknown")
    assert 0 <= row["waited_s"] < 1e-6


def test_a_pause_that_the_hosts_clocks_show_is_one(tmp_path: Path) -> None:
    """The program waits for five seconds: no clock was set."""

    def later(one: Packet) -> Packet:
        value, echo = one.stamps or (0, 0)
        long = 0 if one.at < LOST_AT_S + 0.32 else 5_000
        return replace(one, at=one.at + long / 1e3, stamps=(value + long, echo + long))

    _, warnings, _ = told(tmp_path, [later(one) for one in stamped()])
    assert not warnings


@pytest.mark.parametrize("with_stamps", [False, True])
@pytest.mark.parametrize("late", [-5.0, 0.015, 0.3, 5.0])
@pytest.mark.parametrize("interfaces", [False, True])
def test_a_direction_late_by_the_same_time_always_is_moved(
    tmp_path: Path, late: float, with_stamps: bool, interfaces: bool
) -> None:
    """By time in one file, or as they came from interfaces with clocks of their own."""
    packets = stamped(requests=3) if with_stamps else bare(stamped(requests=3))
    [row], _, _ = told(tmp_path, packets)
    moved = [replace(one, at=one.at + (0 if one.by_client else late)) for one in packets]
    if interfaces:
        made = write_interfaces(tmp_path / "kind.pcapng", moved)
    else:
        made = write(tmp_path / "kind.pcap", sorted(moved, key=lambda one: one.at))
    [after], warnings, rtts = told_of(made)
    assert "it was moved" in warnings
    for name in ("mechanism", "need", "evidence", "detection_s"):
        assert after[name] == row[name]
    assert after["time_s"] == pytest.approx(row["time_s"] + late, abs=1e-6)
    assert rtts == [pytest.approx(0.03, abs=1e-4)]
