"""Disagreements by kind: what the kernel did first, and what the model did instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rexmit.validate.agree.case import Case
from rexmit.validate.agree.compare import Difference
from rexmit.validate.agree.packet import Packet


def kind(difference: Difference, tick_ns: int) -> str:
    """The class of a disagreement, in words."""
    ours, theirs = difference.ours, difference.theirs
    if difference.what == "time" and ours and theirs:
        late = (theirs.at_ns - ours.at_ns) / tick_ns
        size = "by 1 to 2 ticks" if abs(late) <= 2 else "by more than 2 ticks"
        when = "later" if late > 0 else "earlier"
        return f"{_act(ours)}: model {when} {size}"
    when = ""
    if ours and theirs and difference.what == "packet":
        late = theirs.at_ns - ours.at_ns
        when = " (later)" if late > tick_ns else " (earlier)" if late < -tick_ns else ""
        if _act(ours) == _act(theirs):
            return f"{_act(ours)} of other bytes{when}"
    return f"kernel {_act(ours)} / model {_act(theirs)}{when}"


def _act(packet: Packet | None) -> str:
    if packet is None:
        return "nothing"
    if packet.mechanism is not None:
        return packet.mechanism
    return "new data" if packet.length else "bare fin"


@dataclass(frozen=True, slots=True)
class Skew:
    """A setting that stands in disagreements more often than in all cases."""

    setting: str
    among_failed: float
    among_all: float
    failed: int


def skews(cases: Mapping[int, Case], failed: Sequence[int], *, least: int = 3) -> list[Skew]:
    """Settings that are 1.3 times as frequent among the failed cases, or more; worst first."""
    every = Counter(setting for case in cases.values() for setting in _settings(case))
    bad = Counter(setting for number in failed for setting in _settings(cases[number]))
    found = [
        Skew(setting, count / len(failed), every[setting] / len(cases), count)
        for setting, count in bad.items()
        if count >= least
    ]
    found = [skew for skew in found if skew.among_failed > 1.3 * skew.among_all]
    return sorted(found, key=lambda skew: skew.among_all / skew.among_failed)


def _settings(case: Case) -> list[str]:
    found = [f"{name.removeprefix('net.ipv4.')}={value}" for name, value in case.sysctls.items()]
    found = [text for text in found if not text.startswith("tcp_rto_min_us")] + [
        "tcp_rto_min_us" for text in found if text.startswith("tcp_rto_min_us")
    ]
    found.append(case.congestion_control)
    if case.receive_window_bytes is not None:
        found.append("receive window")
    if "ack" in case.pattern:
        found.append("lost acknowledgements")
    if "#" in case.pattern:
        found.append("lost retransmissions")
    if case.pattern == "none":
        found.append("no loss")
    first, second = case.rates_bps
    if first > second:
        found.append("a queue at the switch")
    found.append(_decade("rate", min(case.rates_bps) / 1e6, "Mbit/s"))
    found.append(_decade("rtt", case.rtt_ns / 1e6, "ms"))
    found.append(_decade("segments", case.segments, ""))
    return found


def _decade(name: str, value: float, unit: str) -> str:
    least: float = 0.1
    while value >= 10 * least:
        least *= 10
    return f"{name} {least:g}..{10 * least:g} {unit}".rstrip()
