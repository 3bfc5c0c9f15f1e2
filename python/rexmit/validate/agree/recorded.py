"""What a recorded case really ran under, where the kernel that ran it is not like ours.

Two things differ from a kernel in the lab's virtual time. An old kernel has one set of TCP settings
for all its network namespaces (`tcp_sack` and the like are a namespace's own since Linux 4.15 or
so): what `apply` in crates/guest/src/settings.rs sets on one host it then finds on the other, takes
for that host's own, and puts back after the case, so that the first value that a case of a bench
has given a setting stays. And an unmodified kernel's work takes time: to wake a program, to pass a
packet on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any, Final

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.folder import About, Folder
from rexmit.validate.agree.kernel import CASES_A_BOOT, likeness
from rexmit.validate.agree.model import Bench, run
from rexmit.validate.agree.outcome import Outcome

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
    """The cases with the settings that they ran under.

    They are as drawn where the sizes of segments do not contradict them.
    """
    if not _contradictions(cases, outcomes):
        return dict(cases)
    found = dict(cases)
    order = [number for number, _ in sorted(cases.items(), key=likeness)]
    for begin in range(0, len(order), CASES_A_BOOT):
        for number, left in _boot(cases, outcomes, order[begin : begin + CASES_A_BOOT]):
            own = {**left, **cases[number].sysctls}
            found[number] = replace(cases[number], sysctls=dict(sorted(own.items())))
    return found if not _contradictions(found, outcomes) else dict(cases)


def _contradictions(cases: Mapping[int, Case], outcomes: Mapping[int, Outcome]) -> int:
    """Cases whose segments have another size than their settings make."""
    count = 0
    for number, outcome in outcomes.items():
        size = (outcome.get("transfer") or {}).get("mss_bytes")
        told = _MSS.get(size) if isinstance(size, int) else None
        if told is not None and number in cases:
            count += told != cases[number].sysctls.get(_TIMESTAMPS, "1")
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
    _, found, name = str(outcome.get("error", "")).partition("this kernel has no setting ")
    return name.split()[0] if found else None


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
        gathers = "gathers" if bench.settings[_GATHERS] == "true" else "does not gather"
        took = [
            f"{span / 1e6:.2f} ms {what}"
            for what, span in (
                ("a crossing", bench.crossing_ns),
                ("to wake the server", bench.wake_ns),
                ("a packet", bench.packet_ns),
                ("a retransmission", bench.retransmission_ns),
            )
        ]
        told = [
            f"as the log shows: the server's device {gathers} pages; the hosts' work takes time: "
            + ", ".join(took)
        ]
        if self.changed:
            told.append(
                f"{self.changed} cases ran under settings that others had left: the hosts of this "
                "kernel share theirs"
            )
        return told

    def as_json(self) -> dict[str, Any] | None:
        """The same for a program."""
        return None if self.bench is None else {**asdict(self.bench), "changed": self.changed}


def of_folder(folder: Folder, about: About, stack: str) -> Recorded:
    """What a folder's cases ran under."""
    cases = folder.cases()
    if about.paths > 1 or about.series >= SHARED_BEFORE:
        return Recorded(cases)
    outcomes = folder.outcomes()
    ran = as_run(cases, outcomes)
    changed = sum(
        ran[n] != cases[n] for n, one in outcomes.items() if n in ran and "packets" in one
    )
    return Recorded(ran, bench_of(ran, outcomes, stack, about.hz), changed)


SAMPLE: Final = 24
"""Cases that a bench is known by."""


def bench_of(
    cases: Mapping[int, Case], outcomes: Mapping[int, Outcome], stack: str, hz: int
) -> Bench:
    """The bench on which the kernel ran, by the handshakes and the first flights of some cases."""
    streams = core_streams()
    known = [n for n, outcome in sorted(outcomes.items()) if n in cases and "packets" in outcome]
    sample = [number for number in known if cases[number].receive_window_bytes is None][:SAMPLE]
    alike: dict[str, int] = {}
    times: list[tuple[int, int]] = []
    for gathers in ("false", "true"):
        bench = Bench({_GATHERS: gathers})
        alike[gathers] = 0
        for number in sample:
            made = run(cases[number], run_model, streams, stack=stack, hz=hz, bench=bench)
            ours, theirs = outcomes[number]["packets"], made.get("packets", [])
            alike[gathers] += _first_flight(ours) == _first_flight(theirs)
            more = _work(ours, theirs)
            times += [] if more is None else [more]
    settings = {_GATHERS: max(alike, key=lambda gathers: alike[gathers])}
    if not times:
        return Bench(settings)
    crossing = max(0, round(median(one[0] for one in times)))
    wake = max(0, round(median(one[1] for one in times)) - crossing)
    logs = [outcomes[number]["packets"] for number in known]
    packet = _median(step for log in logs for step in _steps(log))
    looks = _median(look for log in logs if (look := _look(log)) is not None)
    return Bench(settings, crossing, wake, min(packet, crossing), looks)


def _median(values: Iterable[int]) -> int:
    known = list(values)
    return max(0, round(median(known))) if known else 0


_QUICK_NS: Final = 200_000
"""Acknowledgements that come so close together came from data that left together, over a network
that is faster than the hosts."""


def _steps(packets: Sequence[Sequence[Any]]) -> list[int]:
    """Times between acknowledgements of the first flight, where only the hosts' work is between
    them.
    """
    acks = [row[0] for row in packets if row[1] == 1 and row[3] == 0 and row[5] > 1][:5]
    steps = [after - before for before, after in pairwise(acks)]
    return steps if len(steps) == 4 and max(steps) < _QUICK_NS else []


def _look(packets: Sequence[Sequence[Any]]) -> int | None:
    """How much longer the first retransmission that left alone took to be acknowledged than the
    first segment.
    """
    data = [row for row in packets if row[1] == 0 and row[3] > 0]
    acks = [row for row in packets if row[1] == 1 and row[3] == 0]
    first = (
        next((row for row in acks if row[5] > 1 and row[0] > data[0][0]), None) if data else None
    )
    if first is None or data[0][7]:
        return None
    again = next((row for row in data if row[8] is not None), None)
    if again is None or again[7] or again[3] != data[0][3]:
        return None
    alone = all(
        row is again or abs(row[0] - again[0]) > 5_000_000 for row in packets if row[1] == 0
    )
    heard = next((row for row in acks if row[0] > again[0]), None)
    if not alone or heard is None or heard[5] <= again[2] or heard[7]:
        return None
    return int((heard[0] - again[0]) - (first[0] - data[0][0]))


_GATHERS: Final = "scatter_gather"


def _first_flight(packets: Sequence[Sequence[Any]]) -> int:
    """Packets with data that the server sent before it heard of one."""
    sent = 0
    for row in packets:
        if row[1] == 0 and row[3] > 0:
            sent += 1
        elif row[1] == 1 and sent and row[3] == 0:
            break
    return sent


def _work(
    kernel: Sequence[Sequence[Any]], model: Sequence[Sequence[Any]]
) -> tuple[int, int] | None:
    """How much longer than in the model a SYN takes to be answered, and a request, in ns."""
    ours, theirs = _handshake(kernel), _handshake(model)
    if ours is None or theirs is None:
        return None
    return (
        (ours[1] - ours[0]) - (theirs[1] - theirs[0]),
        (ours[3] - ours[2]) - (theirs[3] - theirs[2]),
    )


def _handshake(packets: Sequence[Sequence[Any]]) -> tuple[int, int, int, int] | None:
    """When the SYN, the SYN-ACK, the request and the first data left, where none of them was sent
    again."""
    syns = [row[0] for row in packets if row[4] & 2 and row[1] == 1]
    answers = [row[0] for row in packets if row[4] & 2 and row[1] == 0]
    requests = [row[0] for row in packets if row[1] == 1 and row[3] > 0]
    data = [row[0] for row in packets if row[1] == 0 and row[3] > 0]
    if len(syns) != 1 or len(answers) != 1 or len(requests) != 1 or not data:
        return None
    return syns[0], answers[0], requests[0], data[0]
