"""When the first retransmission comes: what the round-trip time, HZ and the timer wheel say, to the
tick.

A timer of n ticks, armed in tick J, is put into a wheel (kernel/time/timer.c, `calc_wheel_index`)
whose steps are 1 tick below 63 ticks, 8 below 504, 64 below 4032; it fires at the first multiple of
its step after J + n. TCP arms it with each acknowledgement that advances, so the last one before
the retransmission is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

import pytest
from tests.lab.conftest import Lab, Run

from rexmit._core import Packet

HZ = 250
TICK_NS = 10**9 // HZ
LOOKS_NS = 50_000
"""From the tick on, until the filter has looked at the clock."""
RTO_MIN_US = 200_000
TIMEOUT_MIN_US = 2_000


@dataclass(frozen=True)
class Wait:
    """The wait before a transfer's first retransmission, from its server's packets."""

    row: dict[str, Any]
    armed_ns: int
    """The last acknowledgement before the retransmission."""
    fired_ns: int
    longest_rtt_us: float
    """Of all segments that were acknowledged by then."""


def wheel_ns(armed_ns: int, ticks: int) -> int:
    """When a timer of so many ticks fires that is armed now."""
    level = next(level for level in range(9) if ticks < 63 << (3 * level))
    step = 3 * level
    return ((armed_ns // TICK_NS + ticks >> step) + 1 << step) * TICK_NS


def in_ticks(us: float) -> int:
    """`usecs_to_jiffies`."""
    return ceil(us * HZ / 1e6)


def wait_of(run: Run, row: dict[str, Any]) -> Wait:
    packets = run.capture(row, "h1")
    first = next(packet for packet in packets if "retransmission" in (packet.comment or ""))
    acks = [p for p in packets if p.dport == 80 and p.time_ns < first.time_ns]
    return Wait(row, acks[-1].time_ns, first.time_ns, max(rtts_us(packets, acks)))


def rtts_us(packets: list[Packet], acks: list[Packet]) -> Iterator[float]:
    sent = {
        (packet.seq + packet.payload_len) & 0xFFFFFFFF: packet.time_ns
        for packet in reversed(packets)
        if packet.sport == 80 and packet.payload_len
    }
    for packet in acks:
        if packet.ack in sent:
            yield (packet.time_ns - sent[packet.ack]) / 1000


def waits(run: Run) -> list[Wait]:
    """Of all transfers that lost something."""
    return [wait_of(run, row) for row in run.rows() if row["lost_segments"]]


def ticks_of(wait: Wait) -> range:
    """How many ticks the timer may have been armed with.

    The row has RTO and smoothed round-trip time at the first drop; by the last acknowledgement they
    have moved on, at most to those of the longest round trip.
    """
    row = wait.row
    rto = range(round(row["rto_s"] * HZ), in_ticks(wait.longest_rtt_us + RTO_MIN_US) + 1)
    if row["mechanism"] == "rto":
        return rto
    assert row["mechanism"] == "tlp"
    # tcp_schedule_loss_probe: two round trips, and time for a delayed acknowledgement where
    # only one segment is out; never later than the timeout.
    more = RTO_MIN_US if row["dropped_packets"] == 1 else TIMEOUT_MIN_US
    low = in_ticks(2 * row["srtt_s"] * 1e6 + more)
    high = in_ticks(2 * wait.longest_rtt_us + more)
    return range(min(low, rto.start), min(high, rto.stop - 1) + 1)


def test_the_wheel_fires_late_never_early() -> None:
    assert wheel_ns(0, 53) == 54 * TICK_NS
    assert wheel_ns(4 * TICK_NS - 1, 62) == 66 * TICK_NS
    assert wheel_ns(0, 63) == 64 * TICK_NS
    assert wheel_ns(0, 79) == 80 * TICK_NS
    assert wheel_ns(TICK_NS, 79) == 88 * TICK_NS


def test_the_first_retransmission_comes_at_the_tick_that_the_timer_wheel_says(near: Run) -> None:
    found = waits(near)
    assert len(found) == 2 * 3 * 4
    for wait in found:
        due = {wheel_ns(wait.armed_ns, ticks) for ticks in ticks_of(wait)}
        late = {wait.fired_ns - at for at in due}
        assert any(0 <= ns < LOOKS_NS for ns in late), (wait.row["config"], late)


def test_the_timeout_of_a_short_round_trip_is_known_to_the_tick(near: Run) -> None:
    # 10 ms of round trip and the least variance that the kernel takes, 200 ms: 53 ticks of 4 ms.
    for wait in waits(near):
        row = wait.row
        assert row["srtt_s"] == pytest.approx(0.0105, abs=0.0015)
        assert row["rto_s"] == 0.212
        if row["mechanism"] == "rto":
            assert 0 <= wait.fired_ns - wheel_ns(wait.armed_ns, 53) < LOOKS_NS


def test_a_long_round_trip_makes_the_wheel_coarse(each: Lab) -> None:
    run = each.run(
        *("network=mobile", "config=er,tlp", "loss.segments=1,5", "repeat=3"),
        options=("--capture",),
    )
    found = waits(run)
    assert len(found) == 12
    for wait in found:
        ticks = ticks_of(wait)
        due = {wheel_ns(wait.armed_ns, count) for count in ticks}
        assert any(0 <= wait.fired_ns - at < LOOKS_NS for at in due), wait.row["config"]
        if wait.row["mechanism"] == "rto":
            assert ticks.start > 63
            assert wait.fired_ns % (8 * TICK_NS) < LOOKS_NS, "in steps of 32 ms"


def test_the_reference_point(each: Lab) -> None:
    """100 Mbit/s, 10 ms, five lost: a prototype at HZ 100 had 0.237 s, and 0.047 s with the probe.

    t_recover is the wait for the last acknowledgement, then the timer. The first drop leaves right
    behind the last segment that passes, and that one's acknowledgement is back after 10 ms and what
    lies before it in the queue at the end of slow start: 11.95 ms, in both kernels. SRTT is 11.0 ms
    then, so the timeout is 211 ms (SRTT and 200 ms) and the probe's timer 24.0 ms (2 SRTT + 2 ms,
    a little more by the last acknowledgement). Both are rounded up to ticks, and the wheel adds up
    to one more:

                       HZ 100                        HZ 250
        timeout   22 ticks  0.2320 ... 0.2420   53 ticks  0.2239 ... 0.2280
        probe      3 ticks  0.0420 ... 0.0520    7 ticks  0.0399 ... 0.0440
    """
    run = each.run(
        *("network=high-speed", "config=plain,er,tlp", "loss.segments=5", "repeat=8"),
        options=("--capture",),
    )
    for row in run.rows():
        wait = wait_of(run, row)
        ticks = 7 if row["config"] == "tlp" else 53
        last_ack_s = wait.armed_ns / 1e9 - row["t_drop_s"]
        assert last_ack_s == pytest.approx(0.01195, abs=0.00005)
        timer_s = row["t_recover_s"] - last_ack_s
        assert ticks * TICK_NS < timer_s * 1e9 < (ticks + 1) * TICK_NS + LOOKS_NS
        low, high = (0.0399, 0.0440) if row["config"] == "tlp" else (0.2239, 0.2280)
        assert low < row["t_recover_s"] < high
    for config, wanted in (("plain", 0.2259), ("er", 0.2259), ("tlp", 0.0419)):
        values = [row["t_recover_s"] for row in run.rows(config=config)]
        # Eight phases, one in each eighth of a tick: the mean is off by an eighth of it at most.
        assert sum(values) / 8 == pytest.approx(wanted, abs=0.00055)
        assert max(values) - min(values) > 0.002, "phases differ by parts of a tick"
