"""What a recorded case really ran under, where the kernel that ran it is not like ours.

An old kernel has one set of TCP settings for all its network namespaces (`tcp_sack` and the like
are a namespace's own since Linux 4.15 or so). Guests that read what a host's settings were only
after they had set the other's took that for the second host's own and put it back after the case:
the first value that a case of a bench had given a setting stayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from rexmit_validate.agree.bench import GATHERS, bench_of
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.folder import About, Folder
from rexmit_validate.agree.kernel import CASES_A_BOOT, likeness
from rexmit_validate.agree.model import Bench
from rexmit_validate.agree.outcome import Outcome

SHARED_BEFORE: Final = (4, 15)
"""Series from which on all settings that cases draw are a namespace's own."""

_ALWAYS: Final = ("net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
"""What the guest sets before the case's own settings (crates/guest/src/settings.rs)."""

_CONGESTION_CONTROL: Final = "net.ipv4.tcp_congestion_control"
_MODERATE: Final = "net.ipv4.tcp_moderate_rcvbuf"
_RMEM: Final = "net.ipv4.tcp_rmem"

_TIMESTAMPS: Final = "net.ipv4.tcp_timestamps"
_MSS: Final = {1448: "1", 1460: "0"}
"""Payload of a full segment over Ethernet, by whether it carries time stamps."""


def as_run(cases: Mapping[int, Case], outcomes: Mapping[int, Outcome]) -> dict[int, Case]:
    """The cases with the settings that they ran under, and the pages that were sent.

    They are as drawn where the sizes of segments do not contradict them.
    """
    settled = _settled(cases, outcomes)
    for number, outcome in outcomes.items():
        transfer = outcome.get("transfer") or {}
        size, segment = transfer.get("transfer_size_bytes"), transfer.get("mss_bytes")
        if size is None or segment is None or number not in settled or settled[number].bursts:
            continue
        # The page was made for segments of the size that the settings of the case make.
        if size != segment * settled[number].segments:
            settled[number] = replace(settled[number], page_bytes=size)
    return settled


def _settled(cases: Mapping[int, Case], outcomes: Mapping[int, Outcome]) -> dict[int, Case]:
    """With the settings that they ran under."""
    if not _contradictions(cases, outcomes):
        return dict(cases)
    mended = dict(cases)
    order = [number for number, _ in sorted(cases.items(), key=likeness)]
    for begin in range(0, len(order), CASES_A_BOOT):
        for number, left in _boot(cases, outcomes, order[begin : begin + CASES_A_BOOT]):
            own = {**left, **cases[number].sysctls}
            mended[number] = replace(cases[number], sysctls=dict(sorted(own.items())))
    return mended if not _contradictions(mended, outcomes) else dict(cases)


def _contradictions(cases: Mapping[int, Case], outcomes: Mapping[int, Outcome]) -> int:
    """Cases whose segments have another size than their settings make."""
    count = 0
    for number, outcome in outcomes.items():
        size = (outcome.get("transfer") or {}).get("mss_bytes")
        mss = _MSS.get(size) if isinstance(size, int) else None
        if mss is not None and number in cases:
            count += mss != cases[number].sysctls.get(_TIMESTAMPS, "1")
    return count


def _boot(
    cases: Mapping[int, Case], outcomes: Mapping[int, Outcome], order: Sequence[int]
) -> Iterable[tuple[int, dict[str, str]]]:
    """For each case that a boot ran, in order: the settings that others had left."""
    now: dict[str, str | None] = {}
    former: dict[str, str | None] | None = None
    for number in order:
        case, outcome = cases[number], outcomes.get(number, {})
        alone = case.receive_window_bytes is not None
        if former is not None and not alone:
            now.update(former)
        else:
            former = {}
        names = [*_ALWAYS, *sorted(case.sysctls), _CONGESTION_CONTROL]
        stop = _unknown(outcome)
        left = {name: value for name, value in now.items() if value is not None}
        for name in names:
            if name == stop:
                break
            value = case.sysctls.get(name)
            if stop is None:
                # The second host finds what the first was given.
                former.setdefault(name, value)
            now[name] = value
        if stop is not None:
            former = None
            continue
        if alone:
            now[_MODERATE], now[_RMEM] = "0", None
        yield number, {n: v for n, v in left.items() if n not in (*_ALWAYS, _CONGESTION_CONTROL)}
        complete = (outcome.get("transfer") or {}).get("complete", True)
        former = None if alone or not complete else former


def _unknown(outcome: Outcome) -> str | None:
    """The setting that the kernel does not have."""
    _, separator, name = str(outcome.get("error", "")).partition("this kernel has no setting ")
    return name.split()[0] if separator else None


@dataclass(frozen=True, slots=True)
class Recorded:
    """Cases as a kernel ran them, and the bench on which it did."""

    cases: Mapping[int, Case]
    bench: Bench | None = None
    """None of a kernel of the lab."""
    changed: int = 0
    """Cases that ran under settings that others had left."""

    def lines(self) -> list[str]:
        """What a reader of the rates should know."""
        if self.bench is None:
            return []
        bench = self.bench
        if bench.aligned:
            cost, room = (bench.settings[name] for name in ("packet_overhead", "header_room"))
            words = f"{cost} bytes beside its payload, with room of {room} for headers"
            return [f"as the image is configured: a segment costs {words}"]
        gathers = "gathers" if bench.settings[GATHERS] == "true" else "does not gather"
        took = [
            f"{span / 1e3:.0f} µs {what}"
            for what, span in (
                ("to receive a packet", bench.receive_ns),
                ("to answer a request", bench.answer_ns),
                ("to wake a program", bench.wake_ns),
                ("for it to take one", bench.take_ns),
                ("for it to leave", bench.leave_ns),
                ("to write one", bench.write_ns),
                ("to make one", bench.make_ns),
                ("to fetch one", bench.fetch_ns),
                ("to judge a packet", bench.judge_ns),
                ("to name a retransmission", bench.retransmission_ns),
            )
        ]
        lines = [
            f"as the log shows: the server's device {gathers} pages; the hosts' work takes time: "
            + ", ".join(took)
        ]
        if self.changed:
            lines.append(
                f"{self.changed} cases ran under settings that others had left: the hosts of this "
                "kernel share theirs"
            )
        return lines

    def as_json(self) -> dict[str, Any] | None:
        """The same for a program."""
        return None if self.bench is None else {**asdict(self.bench), "changed": self.changed}


def of_image(room: Mapping[str, str]) -> Bench | None:
    """The bench of an image with this room for headers: the lab's but for that."""
    return Bench(dict(room), aligned=True) if room else None


def of_folder(folder: Folder, about: About, stack: str) -> Recorded:
    """What a folder's cases ran under."""
    cases = folder.cases()
    if (bench := of_image(about.room)) is not None:
        return Recorded(cases, bench)
    if about.paths > 1 or about.series >= SHARED_BEFORE:
        return Recorded(cases)
    outcomes = folder.outcomes()
    ran = as_run(cases, outcomes)
    changed = sum(
        ran[n] != cases[n] for n, one in outcomes.items() if n in ran and "packets" in one
    )
    return Recorded(ran, bench_of(ran, outcomes, stack, about.hz), changed)
