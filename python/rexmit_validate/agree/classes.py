"""Disagreements by kind: what the kernel did first, and what the model did instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rexmit.wording import count
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.compare import Verdict, same_time
from rexmit_validate.agree.packet import Completions, Log, LoggedPacket, by_path


def of_packets(verdict: Verdict, tick_ns: int) -> str | None:
    """The class of the first differing packet, in words; None where every packet agrees."""
    difference = verdict.difference
    if difference is None:
        return None
    ours, theirs, late_ns = difference.ours, difference.theirs, difference.late_ns
    if difference.what == "time" and ours and theirs:
        when = "later" if late_ns > 0 else "earlier"
        return f"{ours.act}: model {when} {_size(late_ns, tick_ns)}"
    when = ""
    if ours and theirs and difference.what == "packet":
        when = " (later)" if late_ns > tick_ns else " (earlier)" if late_ns < -tick_ns else ""
        if ours.act == theirs.act:
            return f"{ours.act} of other bytes{when}"
    return f"kernel {_act(ours)} / model {_act(theirs)}{when}"


def of_retransmissions(verdict: Verdict, kernel: Log, model: Log, tick_ns: int) -> str | None:
    """The class of a disagreement in retransmissions or completion, in words."""
    if verdict.agree:
        return None
    if not verdict.retransmissions:
        kind = _retransmissions(kernel.retransmissions, model.retransmissions)
    else:
        kind = _completion(kernel.completions, model.completions, tick_ns)
    return f"{kind}, after another schedule" if _other_schedule(kernel, model) else kind


def _retransmissions(left: Sequence[LoggedPacket], right: Sequence[LoggedPacket]) -> str:
    """By the first retransmission in which the two differ."""
    for place in range(max(len(left), len(right))):
        one = left[place] if place < len(left) else None
        two = right[place] if place < len(right) else None
        if one and two and (one.act, one.path) == (two.act, two.path):
            continue
        # A class is the same whichever number its path has.
        where = " on another path" if one and two and one.path != two.path else ""
        if one and two and one.act == two.act:
            return f"{one.act}{where}"
        ours, theirs = (packet.act if packet else "nothing more" for packet in (one, two))
        return f"kernel {ours} / model {theirs}{where}"
    return "retransmissions in another order"


def _completion(ours: Completions, theirs: Completions, tick_ns: int) -> str:
    if len(ours) != len(theirs):
        return "another number of bursts"
    one, two = next(
        times for times in zip(ours, theirs, strict=True) if not same_time(*times, tick_ns)
    )
    if one is None or two is None:
        return "a burst complete in one of the two only"
    when = "later" if two > one else "earlier"
    return f"a burst complete {when} in the model {_size(two - one, tick_ns)}"


def _other_schedule(kernel: Log, model: Log) -> bool:
    """A path carried other data before anything was lost on it."""
    left, right = by_path(kernel.data), by_path(model.data)
    for path in left.keys() | right.keys():
        for one, two in zip(left.get(path, ()), right.get(path, ()), strict=False):
            if one.what != two.what:
                return True
            if one.dropped:
                break
    return False


def _size(late_ns: int, tick_ns: int) -> str:
    return "by 1 to 2 ticks" if abs(late_ns) <= 2 * tick_ns else "by more than 2 ticks"


def _act(packet: LoggedPacket | None) -> str:
    return "nothing" if packet is None else packet.act


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
    often = [
        Skew(setting, count / len(failed), every[setting] / len(cases), count)
        for setting, count in bad.items()
        if count >= least
    ]
    often = [skew for skew in often if skew.among_failed > 1.3 * skew.among_all]
    return sorted(often, key=lambda skew: skew.among_all / skew.among_failed)


def _settings(case: Case) -> list[str]:
    texts = [f"{name.removeprefix('net.ipv4.')}={value}" for name, value in case.sysctls.items()]
    texts = [text for text in texts if not text.startswith("tcp_rto_min_us")] + [
        "tcp_rto_min_us" for text in texts if text.startswith("tcp_rto_min_us")
    ]
    texts.append(case.congestion_control)
    if case.receive_window_bytes is not None:
        texts.append("receive window")
    if "ack" in case.pattern:
        texts.append("lost acknowledgements")
    if "#" in case.pattern:
        texts.append("lost retransmissions")
    if case.pattern == "none":
        texts.append("no loss")
    if case.over == "links" and case.rates_bps[0] > case.rates_bps[1]:
        texts.append("a queue at the switch")
    texts.append(case.protocol)
    if case.bursts is not None:
        texts.append(count(case.bursts, "burst"))
    texts.append(_decade("rate", min(case.rates_bps) / 1e6, "Mbit/s"))
    texts.append(_decade("rtt", case.rtt_ns / 1e6, "ms"))
    texts.append(_decade("segments", case.segments, ""))
    return texts


def _decade(name: str, value: float, unit: str) -> str:
    least: float = 0.1
    while value >= 10 * least:
        least *= 10
    return f"{name} {least:g}..{10 * least:g} {unit}".rstrip()
