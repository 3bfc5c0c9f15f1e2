"""The bench on which a kernel ran whose work takes time, as its packet logs show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby, pairwise
from statistics import median
from typing import Final

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit_validate.agree.case import Case, plan
from rexmit_validate.agree.model import Bench, Model, run
from rexmit_validate.agree.outcome import Outcome
from rexmit_validate.agree.packet import SERVER, SYN, LoggedPacket, read

GATHERS: Final = "scatter_gather"
"""The setting that decides how much leaves in the first flight."""

_FLIGHT: Final = 4
"""Packets that are judged together, at least, where the work on each is measured."""

_IDLE_NS: Final = 200_000
"""Packets that are so far apart find the hosts idle."""

_BATCH: Final = 3
"""Acknowledgements that left together show how long each took."""

_FAST_NS: Final = 80_000
"""Packets that come sooner one after another may find the hosts at work on those before them."""

_SLOW_NS: Final = 300_000
"""Packets that come so slowly one after another find the hosts idle."""

_ACK_BITS: Final = 8 * 54
"""Of an acknowledgement without options."""

_FRAME_BITS: Final = 8 * 1514
"""Of a full segment."""

_ALONE_NS: Final = 5_000_000
"""What leaves so long before and after another packet leaves alone."""


def bench_of(
    cases: Mapping[int, Case], outcomes: Mapping[int, Outcome], stack: str, hz: int
) -> Bench:
    """The bench by the handshakes and the first flights of some cases."""
    model = Model(run_model, core_streams(), stack, hz)
    logs = {
        number: read(outcome["packets"])
        for number, outcome in sorted(outcomes.items())
        if number in cases and "packets" in outcome
    }
    sample = [number for number in logs if cases[number].receive_window_bytes is None]

    def modelled(number: int, bench: Bench) -> list[LoggedPacket]:
        outcome = run(cases[number], model, bench=bench)
        return read(outcome.get("packets", []))

    idle_by = {
        gathers: {number: modelled(number, Bench({GATHERS: gathers})) for number in sample}
        for gathers in ("false", "true")
    }
    alike = {
        gathers: sum(
            _first_flight(logs[number]) == _first_flight(one) for number, one in by.items()
        )
        for gathers, by in idle_by.items()
    }
    gathers = max(alike, key=lambda gathers: alike[gathers])
    idle = idle_by[gathers]
    crossing = _median(
        answered - at_once
        for number in sample
        if (answered := _handshake(logs[number])) is not None
        and (at_once := _handshake(idle[number])) is not None
    )
    flights = {
        number: answer for number, log in logs.items() if (answer := _first_answer(log)) is not None
    }
    first = [
        (flights[number], other)
        for number in sample
        if number in flights
        and (other := _first_answer(idle[number])) is not None
        and flights[number].together >= _FLIGHT
    ]
    # One round of a packet with data that a reader takes and acknowledges, where nothing waits: a
    # SYN crosses as such a round goes, but for what its answer takes longer to make.
    round_ns = _median(step for number in sample for step in _steps(logs[number], idle[number]))
    more = max(0, crossing - round_ns) if round_ns else 0
    judge = _median(
        (ours.heard_ns - theirs.heard_ns - crossing + more) // (ours.together - 1)
        for ours, theirs in first
        if theirs.step_ns > _IDLE_NS
    )
    send = _slope(
        (flight[0], flight[1] - quick[1])
        for number in sample
        if (flight := _asked(logs[number])) is not None
        and (quick := _asked(idle[number])) is not None
    )
    logging = _quartile(
        after for number, log in logs.items() for after in _after_ticks(cases[number], log, hz)
    )
    slope = _slope(one for number in sample for one in _clocked(cases[number], logs[number]))
    wake = max(0, logging - slope)
    # What a reader does with a packet, what TCP does without one, and both but the acknowledgement.
    reader = max(0, round_ns - wake - judge)
    alone = _median(step for number in sample for step in _in_batches(logs[number], judge))
    fast = [(_gap(cases[number]), _together(logs[number])) for number in sample]
    fast = [(gap, groups) for gap, groups in fast if gap < _FAST_NS and sum(groups) >= _FLIGHT]
    # Packets that come sooner are left to a reader, one by one; those that come a little later are
    # acknowledged with the first.
    begins = _bound((gap, len(groups) == sum(groups)) for gap, groups in fast)
    leaves = _bound((gap, groups[0] > 1) for gap, groups in fast if gap > begins)
    make = max(0, min(reader, alone, slope, (reader + alone - begins) // 2))
    bench = Bench(
        {GATHERS: gathers},
        receive_ns=alone - make,
        wake_ns=wake,
        take_ns=reader - make,
        leave_ns=max(0, leaves - alone - reader + make),
        write_ns=max(0, send - slope),
        make_ns=make,
        fetch_ns=slope - make,
        judge_ns=judge,
        retransmission_ns=_median(
            look + (answer.together - 1) * judge
            for number, answer in flights.items()
            if answer.step_ns > _IDLE_NS and (look := _look(logs[number], answer)) is not None
        ),
    )
    # What a request takes longer than all this is what the server needs to answer.
    return replace(
        bench,
        answer_ns=_median(
            flight[1] - quick[1]
            for number in sample
            if (flight := _asked(logs[number])) is not None
            and (quick := _asked(modelled(number, bench))) is not None
            and flight[0] == quick[0]
        ),
    )


def _median(values: Iterable[int]) -> int:
    known = list(values)
    return max(0, round(median(known))) if known else 0


def _quartile(values: Iterable[int]) -> int:
    """The lower one: what comes between makes a time longer, and nothing makes it shorter."""
    known = sorted(values)
    return max(0, known[len(known) // 4]) if known else 0


def _slope(points: Iterable[tuple[int, int]]) -> int:
    """By how much the second number grows with the first."""
    by: dict[int, list[int]] = {}
    for count, value in points:
        by.setdefault(count, []).append(value)
    known = [(count, _quartile(by[count])) for count in sorted(by) if len(by[count]) >= _FLIGHT]
    return _median((far[1] - near[1]) // (far[0] - near[0]) for near, far in combinations(known, 2))


def _payload(packets: Iterable[LoggedPacket], *, server: bool) -> list[LoggedPacket]:
    return [one for one in packets if (one.direction == SERVER) == server and one.length > 0]


def _acks(packets: Iterable[LoggedPacket]) -> list[LoggedPacket]:
    """The client's packets without data."""
    return [one for one in packets if one.direction != SERVER and one.length == 0]


def _first_flight(packets: Iterable[LoggedPacket]) -> int:
    """Packets with data that the server sent before it heard of one."""
    sent = 0
    for one in packets:
        if one.direction == SERVER and one.length > 0:
            sent += 1
        elif one.direction != SERVER and sent and one.length == 0:
            break
    return sent


def _asked(packets: Sequence[LoggedPacket]) -> tuple[int, int] | None:
    """How many packets with data left first, and how long after the request."""
    data, requests = _payload(packets, server=True), _payload(packets, server=False)
    if not data or len(requests) != 1:
        return None
    begun = data[0].at_ns
    return sum(1 for one in data if one.at_ns == begun), begun - requests[0].at_ns


@dataclass(frozen=True, slots=True)
class _FirstFlight:
    heard_ns: int
    """From the first data to their acknowledgement."""
    together: int
    """Packets that the filter took with them."""
    step_ns: int
    """From their acknowledgement to the next."""


def _first_answer(packets: Sequence[LoggedPacket]) -> _FirstFlight | None:
    """How long the first data took, where nothing of it was lost or sent again."""
    data, requests = _payload(packets, server=True), _payload(packets, server=False)
    if not data or data[0].dropped or len(requests) != 1:
        return None
    begun = data[0].at_ns
    heard = [one.at_ns for one in _acks(packets) if one.at_ns > begun and one.ack > 1]
    if not heard:
        return None
    together = sum(1 for one in packets if one.direction == SERVER and one.at_ns == begun)
    step = heard[1] - heard[0] if len(heard) > 1 else 0
    return _FirstFlight(heard[0] - begun, together, step)


def _steps(packets: Sequence[LoggedPacket], idle: Sequence[LoggedPacket]) -> list[int]:
    """Times between acknowledgements of the first flight that left one by one, where data came
    faster than the hosts worked.
    """

    def steps(packets: Sequence[LoggedPacket]) -> list[int]:
        acks = [one.at_ns for one in _acks(packets) if one.ack > 1][: _FLIGHT + 1]
        return [after - before for before, after in pairwise(acks)]

    ours, theirs = steps(packets), steps(idle)
    worked = len(ours) == len(theirs) == _FLIGHT and min(ours) > 2 * max(theirs)
    return ours[1:] if worked else []


def _groups(packets: Sequence[LoggedPacket]) -> list[tuple[int, int]]:
    """When acknowledgements of the first flight left, and how many together."""
    first = _first_flight(packets)
    acks = [one.at_ns for one in _acks(packets) if one.ack > 1][:first]
    return [(at, len(list(same))) for at, same in groupby(acks)]


def _clocked(case: Case, packets: Sequence[LoggedPacket]) -> Iterable[tuple[int, int]]:
    """How many new segments left together after an acknowledgement, and how much later than it came
    over the wire, where hosts had nothing else to do.
    """
    if _gap(case) < _SLOW_NS:
        return
    crossing = sum(case.delays_ns) + sum(_ACK_BITS * 10**9 // rate for rate in case.rates_bps)
    acks = [one.at_ns + crossing for one in _acks(packets)]
    groups: dict[int, list[LoggedPacket]] = {}
    for one in _payload(packets, server=True):
        groups.setdefault(one.at_ns, []).append(one)
    for at, group in groups.items():
        near = [at - ack for ack in acks if abs(at - ack) < _ALONE_NS // 4]
        new = all(one.mechanism is None for one in group)
        if new and len(group) < _FLIGHT and len(near) == 1 and 0 < near[0] < _IDLE_NS:
            yield len(group), near[0]


def _in_batches(packets: Sequence[LoggedPacket], judge: int) -> list[int]:
    """How long TCP worked on each packet of those that it took in while the filter waited."""
    groups = _groups(packets)
    return [
        (after[0] - before[0] - before[1] * judge) // after[1]
        for before, after in pairwise(groups[:2])
        if after[1] >= _BATCH
    ]


def _gap(case: Case) -> int:
    """How long after a packet the next one comes, at least, on the slowest link."""
    return _FRAME_BITS * 10**9 // min(case.rates_bps)


def _together(packets: Sequence[LoggedPacket]) -> list[int]:
    """How many acknowledgements of the first flight left together each time."""
    return [count for _, count in _groups(packets)]


def _bound(flights: Iterable[tuple[int, bool]]) -> int:
    """The time between packets below which something happens, and above which it does not."""
    known = list(flights)
    gaps = sorted({gap for gap, _ in known})
    middles = [(near + far) // 2 for near, far in pairwise(gaps)]

    def wrong(bound: int) -> int:
        return sum((gap < bound) != so for gap, so in known)

    return min(middles, key=wrong, default=0)


def _handshake(packets: Sequence[LoggedPacket]) -> int | None:
    """From SYN to SYN-ACK, where none of them was sent again."""
    syns = [one for one in packets if one.flags & SYN]
    opens = [one.at_ns for one in syns if one.direction != SERVER]
    answers = [one.at_ns for one in syns if one.direction == SERVER]
    return answers[0] - opens[0] if len(opens) == 1 and len(answers) == 1 else None


def _after_ticks(case: Case, packets: Sequence[LoggedPacket], hz: int) -> list[int]:
    """How long after a tick of the kernel retransmissions by timeout were written down."""
    (start,) = plan({0: case}, core_streams(), hz=hz, programs={})["cells"][0]["starts"]
    tick = 10**9 // hz
    return [
        (one.at_ns + start["phase_ns"]) % tick
        for one in packets
        if one.direction == SERVER and one.mechanism == "rto"
    ]


def _look(packets: Sequence[LoggedPacket], first: _FirstFlight) -> int | None:
    """How much longer the first retransmission, if it left alone, took to be acknowledged than the
    first segment.
    """
    data, acks = _payload(packets, server=True), _acks(packets)
    again = next((one for one in data if one.mechanism is not None), None)
    if again is None or again.dropped or again.length != data[0].length:
        return None
    heard = next((one for one in acks if one.at_ns > again.at_ns), None)
    alone = all(
        one is again or abs(one.at_ns - again.at_ns) > _ALONE_NS
        for one in packets
        if one.direction == SERVER
    )
    if heard is None or not alone or heard.ack <= again.seq or heard.dropped:
        return None
    return heard.at_ns - again.at_ns - first.heard_ns
