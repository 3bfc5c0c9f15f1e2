"""The bench on which a kernel ran whose work takes time, as its packet logs show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.validate.agree.case import Case, plan
from rexmit.validate.agree.model import Bench, run
from rexmit.validate.agree.outcome import Outcome
from rexmit.validate.agree.packet import SERVER, SYN, Packet, read

GATHERS: Final = "scatter_gather"
"""The setting that decides how much leaves in the first flight."""

_FLIGHT: Final = 4
"""Packets that are judged together, at least, where the work on each is measured."""

_IDLE_NS: Final = 200_000
"""Packets that are so far apart find the hosts idle."""

_ALONE_NS: Final = 5_000_000
"""What leaves so long before and after another packet leaves alone."""


def bench_of(
    cases: Mapping[int, Case], outcomes: Mapping[int, Outcome], stack: str, hz: int
) -> Bench:
    """The bench by the handshakes and the first flights of some cases."""
    streams = core_streams()
    logs = {
        number: read(outcome["packets"])
        for number, outcome in sorted(outcomes.items())
        if number in cases and "packets" in outcome
    }
    sample = [number for number in logs if cases[number].receive_window_bytes is None]

    def modelled(number: int, bench: Bench) -> list[Packet]:
        made = run(cases[number], run_model, streams, stack=stack, hz=hz, bench=bench)
        return read(made.get("packets", []))

    made = {
        gathers: {number: modelled(number, Bench({GATHERS: gathers})) for number in sample}
        for gathers in ("false", "true")
    }
    alike = {
        gathers: sum(
            _first_flight(logs[number]) == _first_flight(one) for number, one in by.items()
        )
        for gathers, by in made.items()
    }
    gathers = max(alike, key=lambda gathers: alike[gathers])
    idle = made[gathers]
    crossing = _median(
        ours - theirs
        for number in sample
        if (ours := _handshake(logs[number])) is not None
        and (theirs := _handshake(idle[number])) is not None
    )
    flights = {
        number: flight for number, log in logs.items() if (flight := _first_answer(log)) is not None
    }
    first = [
        (flights[number], quick)
        for number in sample
        if number in flights
        and (quick := _first_answer(idle[number])) is not None
        and flights[number].together >= _FLIGHT
    ]
    logging = _median(
        after for number, log in logs.items() for after in _after_ticks(cases[number], log, hz)
    )
    # One round of a packet with data that is received and acknowledged, where nothing waits.
    round_ns = _median(step for number in sample for step in _steps(logs[number], idle[number]))
    # How much longer it takes to make a packet with data than an acknowledgement: a SYN crosses as
    # such a round goes, but for that.
    more = max(0, crossing - round_ns) if round_ns else 0
    judge = _median(
        (log.heard_ns - quick.heard_ns - crossing + more) // (log.together - 1)
        for log, quick in first
        if quick.step_ns > _IDLE_NS
    )
    send = _median(
        (log.asked_ns - quick.asked_ns - crossing + more - judge) // (log.together - 1)
        for log, quick in first
    )
    return Bench(
        {GATHERS: gathers},
        receive_ns=max(0, crossing - logging - judge),
        send_ns=send,
        acknowledge_ns=max(0, send - more),
        filter_ns=max(0, logging - send),
        judge_ns=judge,
        retransmission_ns=_median(
            look + (flight.together - 1) * judge
            for number, flight in flights.items()
            if flight.step_ns > _IDLE_NS and (look := _look(logs[number], flight)) is not None
        ),
    )


def _median(values: Iterable[int]) -> int:
    known = list(values)
    return max(0, round(median(known))) if known else 0


def _payload(packets: Iterable[Packet], *, server: bool) -> list[Packet]:
    return [one for one in packets if (one.direction == SERVER) == server and one.length > 0]


def _acks(packets: Iterable[Packet]) -> list[Packet]:
    """The client's packets without data."""
    return [one for one in packets if one.direction != SERVER and one.length == 0]


def _first_flight(packets: Iterable[Packet]) -> int:
    """Packets with data that the server sent before it heard of one."""
    sent = 0
    for one in packets:
        if one.direction == SERVER and one.length > 0:
            sent += 1
        elif one.direction != SERVER and sent and one.length == 0:
            break
    return sent


@dataclass(frozen=True, slots=True)
class _FirstFlight:
    asked_ns: int
    """From the request to the first data."""
    heard_ns: int
    """From the first data to their acknowledgement."""
    together: int
    """Packets that the filter took with them."""
    step_ns: int
    """From their acknowledgement to the next."""


def _first_answer(packets: Sequence[Packet]) -> _FirstFlight | None:
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
    return _FirstFlight(begun - requests[0].at_ns, heard[0] - begun, together, step)


def _steps(packets: Sequence[Packet], idle: Sequence[Packet]) -> list[int]:
    """Times between acknowledgements of the first flight that left one by one, where data came
    faster than the hosts worked.
    """

    def steps(packets: Sequence[Packet]) -> list[int]:
        acks = [one.at_ns for one in _acks(packets) if one.ack > 1][: _FLIGHT + 1]
        return [after - before for before, after in pairwise(acks)]

    ours, theirs = steps(packets), steps(idle)
    worked = len(ours) == len(theirs) == _FLIGHT and min(ours) > 2 * max(theirs)
    return ours[1:] if worked else []


def _handshake(packets: Sequence[Packet]) -> int | None:
    """From SYN to SYN-ACK, where none of them was sent again."""
    syns = [one for one in packets if one.flags & SYN]
    opens = [one.at_ns for one in syns if one.direction != SERVER]
    answers = [one.at_ns for one in syns if one.direction == SERVER]
    return answers[0] - opens[0] if len(opens) == 1 and len(answers) == 1 else None


def _after_ticks(case: Case, packets: Sequence[Packet], hz: int) -> list[int]:
    """How long after a tick of the kernel retransmissions by timeout were written down."""
    (start,) = plan({0: case}, core_streams(), hz=hz, programs={})["cells"][0]["starts"]
    tick = 10**9 // hz
    return [
        (one.at_ns + start["phase_ns"]) % tick
        for one in packets
        if one.direction == SERVER and one.mechanism == "rto"
    ]


def _look(packets: Sequence[Packet], first: _FirstFlight) -> int | None:
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
