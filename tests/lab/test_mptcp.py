"""The optional patch that reinjects on a tail loss probe: seen on the wire, and nothing if off."""

from __future__ import annotations

import json
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from tests.lab.conftest import KERNELS, Lab, User

from rexmit import kernels
from rexmit.errors import UserError

BURSTS = Path(__file__).with_name("mptcp_bursts.py")
PATCH = "mptcp-reinject-on-tlp"
MSS_WORDS = 356
"""4-byte words of a full segment: 1,500 bytes less 40, 12 of timestamps, 20 of MPTCP, 4 of both."""
WORDS = 80 * MSS_WORDS
SETTING = "mptcp/reinject_on_tlp"
HEAD, ALL = 1, 2
"""Its values."""


@dataclass(frozen=True)
class Sent:
    """A packet with data that the server sent."""

    time_ns: int
    path: int
    words: range


@dataclass(frozen=True)
class Outcome:
    """What a call of mptcp_bursts.py told and left."""

    told: dict[str, Any]
    pcap: bytes

    @property
    def completion_s(self) -> float:
        """Of the last burst."""
        return float(self.told["done"][-1] - self.told["begun"][-1])

    def count(self, name: str) -> int:
        """A counter of the server."""
        return int(self.told["counters"].get(name, 0))

    @cached_property
    def sent(self) -> list[Sent]:
        """Packets of the last burst, times from when its first one was sent."""
        all_sent = list(data_packets(self.pcap))
        last_burst = self.told["begun"][-1] - self.told["begun"][0]
        begun = all_sent[0].time_ns + int(last_burst * 1e9)
        return [
            Sent(packet.time_ns - begun, packet.path, packet.words)
            for packet in all_sent
            if packet.words.start >= WORDS
        ]

    @cached_property
    def retransmitted(self) -> list[Sent]:
        """Those of `sent` whose data had been sent before, on whatever path."""
        seen: set[int] = set()
        again = []
        for packet in self.sent:
            if packet.words.start in seen:
                again.append(packet)
            seen.add(packet.words.start)
        return again


def data_packets(pcap: bytes) -> Iterator[Sent]:
    at = 24
    while at < len(pcap):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", pcap, at)
        ip = pcap[at + 30 : at + 16 + length]
        at += 16 + length
        if ip[:1] != b"\x45" or ip[9] != 6 or ip[12:16] != bytes([10, 0, 0, 1]):
            continue
        payload = ip[20 + (ip[32] >> 4) * 4 : struct.unpack_from(">H", ip, 2)[0]]
        if payload:
            first = struct.unpack_from(">I", payload)[0]
            words = range(first, first + len(payload) // 4)
            yield Sent(seconds * 10**9 + nanoseconds, ip[18], words)


@dataclass(frozen=True)
class Bench:
    """The same bursts over the same paths, with other losses, settings and kernels."""

    user: User
    series: str
    delays_ms: tuple[int, int]

    def run(self, *drop: tuple[int, int, float], patched: bool = False, on: int = 0) -> Outcome:
        """Drop these (path, first word of the packet, for so many seconds)."""
        kernel = f"{self.series}+{PATCH}" if patched else self.series
        order = {
            "delays_ms": self.delays_ms,
            "rate": "54mbit",
            "bursts": 2,
            "words": WORDS,
            "gap_s": 2,
            "sysctl": {SETTING: on} if on else {},
            "drop": drop,
        }
        words = (sys.executable, str(BURSTS), json.dumps(order))
        with tempfile.TemporaryDirectory(dir=self.user.home) as kept:
            done = Lab(self.user, kernel).exec(*words, options=("--keep", kept)).ok()
            return Outcome(json.loads(done.out), Path(kept, "h1.pcap").read_bytes())

    def lose_tail(self, packets: int) -> tuple[list[int], tuple[tuple[int, int, float], ...]]:
        """The first words of the last packets of path 1 in the last burst, found without loss;
        and what drops their first transmission.
        """
        whole = self.run()
        assert not whole.retransmitted
        tail = [packet for packet in whole.sent if packet.path == 1][-packets:]
        until = tail[-1].time_ns / 1e9 + 0.02
        words = [packet.words.start for packet in tail]
        return words, tuple((1, word, until) for word in words)


@pytest.fixture(scope="session", params=KERNELS)
def series(request: pytest.FixtureRequest) -> str:
    """A series whose patched kernel is there. As with the others, one that is missing fails."""
    series = str(request.param)
    try:
        kernels.find(f"{series}+{PATCH}")
    except UserError as error:
        command = f"rexmit kernel build {series} --patch {PATCH}"
        pytest.fail(f"{error.what}\nbuild it: {command}", pytrace=False)
    return series


def test_a_probe_reinjects_the_head_on_the_other_path(me: User, series: str) -> None:
    bench = Bench(me, series, (20, 30))
    (first, last), drop = bench.lose_tail(2)

    plain = bench.run(*drop)
    off = bench.run(*drop, patched=True)
    assert off.pcap == plain.pcap
    assert off.told == plain.told
    assert off.told["intact"]
    probe, *rest = off.retransmitted
    assert (probe.path, probe.words.start) == (1, last)
    # The other path is left to MPTCP's own timer, a while after.
    copy = next(packet for packet in rest if packet.path == 2)
    assert copy.time_ns > probe.time_ns + 8_000_000
    assert off.count("MPTcpExtMPTCPRetrans") > 0

    on = bench.run(*drop, patched=True, on=HEAD)
    assert on.told["intact"]
    until_probe = off.sent.index(probe) + 1
    order = [(packet.path, packet.words) for packet in on.sent]
    assert order[:until_probe] == [(p.path, p.words) for p in off.sent[:until_probe]]
    sent = [(packet.path, packet.words.start) for packet in on.retransmitted[:2]]
    assert sent == [(1, last), (2, first)]
    assert abs(on.retransmitted[0].time_ns - probe.time_ns) < 1_000_000
    assert on.retransmitted[1].time_ns - on.retransmitted[0].time_ns < 1_000_000
    assert on.count("MPTcpExtReinjectOnTLP") == 1
    # The other subflow is no longer idle when MPTCP's own timer expires.
    assert on.count("MPTcpExtMPTCPRetrans") == 0


def test_a_probe_reinjects_all_on_the_other_path(me: User, series: str) -> None:
    bench = Bench(me, series, (20, 30))
    tail, drop = bench.lose_tail(3)
    head = bench.run(*drop, patched=True, on=HEAD)
    whole = bench.run(*drop, patched=True, on=ALL)
    assert whole.told["intact"]
    probe, *copies = whole.retransmitted[:4]
    assert (probe.path, probe.words.start) == (1, tail[-1])
    assert [(packet.path, packet.words.start) for packet in copies] == [(2, word) for word in tail]
    assert {len(packet.words) for packet in copies[:-1]} == {MSS_WORDS}
    assert all(packet.time_ns - probe.time_ns < 1_000_000 for packet in copies)
    # Until the probe, and with it, they are the same.
    both = whole.sent.index(probe) + 1
    order = [[(packet.path, packet.words) for packet in run.sent[:both]] for run in (head, whole)]
    assert order[0] == order[1]
    counts = [
        (run.count("MPTcpExtReinjectOnTLP"), run.count("MPTcpExtMPTCPRetrans"))
        for run in (head, whole)
    ]
    assert counts == [(1, 0), (3, 0)]
    # The peer need not wait for the first path.
    assert whole.completion_s < head.completion_s - 0.01


def test_the_other_path_need_not_be_idle(me: User, series: str) -> None:
    bench = Bench(me, series, (20, 120))
    (last,), drop = bench.lose_tail(1)
    off = bench.run(*drop, patched=True)
    on = bench.run(*drop, patched=True, on=HEAD)
    assert [(packet.path, packet.words.start) for packet in off.retransmitted] == [(1, last)]
    assert [(packet.path, packet.words.start) for packet in on.retransmitted] == [
        (1, last),
        (2, last),
    ]
    # MPTCP's timer has found no idle subflow and sends nothing in either.
    counts = [
        (run.count("MPTcpExtReinjectOnTLP"), run.count("MPTcpExtMPTCPRetrans")) for run in (off, on)
    ]
    assert counts == [(0, 0), (1, 0)]
    assert on.completion_s == pytest.approx(off.completion_s, abs=0.001)


def test_a_kernel_without_the_patch_has_no_such_setting(me: User) -> None:
    with pytest.raises(AssertionError, match="reinject_on_tlp"):
        Bench(me, KERNELS[0], (20, 30)).run(on=HEAD)
