"""The bench on which a kernel ran whose work takes time, as its packet logs show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.model import Bench, run
from rexmit.validate.agree.outcome import Outcome
from rexmit.validate.agree.packet import SERVER, SYN, Packet, read

GATHERS: Final = "scatter_gather"
"""The setting that decides how much leaves in the first flight."""

SAMPLE: Final = 24
"""Cases that a bench is known by."""

_QUICK_NS: Final = 200_000
"""Acknowledgements that come so close together came from data that left together, over a network
that is faster than the hosts."""

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
    sample = [number for number in logs if cases[number].receive_window_bytes is None][:SAMPLE]
    alike: dict[str, int] = {}
    later: list[tuple[int, int]] = []
    for gathers in ("false", "true"):
        bench = Bench({GATHERS: gathers})
        alike[gathers] = 0
        for number in sample:
            made = run(cases[number], run_model, streams, stack=stack, hz=hz, bench=bench)
            theirs = read(made.get("packets", []))
            alike[gathers] += _first_flight(logs[number]) == _first_flight(theirs)
            ours_later = _later(logs[number], theirs)
            later += [] if ours_later is None else [ours_later]
    settings = {GATHERS: max(alike, key=lambda gathers: alike[gathers])}
    crossing = _median(answer for answer, _ in later)
    response = _median(response for _, response in later)
    return Bench(
        settings,
        crossing_ns=crossing,
        wake_ns=max(0, response - crossing),
        packet_ns=min(crossing, _median(step for log in logs.values() for step in _steps(log))),
        retransmission_ns=_median(
            look for log in logs.values() if (look := _look(log)) is not None
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


def _later(kernel: Sequence[Packet], model: Sequence[Packet]) -> tuple[int, int] | None:
    """How much longer than in the model a SYN takes to be answered, and a request, in ns."""
    ours, theirs = _handshake(kernel), _handshake(model)
    if ours is None or theirs is None:
        return None
    return ours[0] - theirs[0], ours[1] - theirs[1]


def _handshake(packets: Sequence[Packet]) -> tuple[int, int] | None:
    """From SYN to SYN-ACK and from request to the first data, where none of them was sent again."""
    syns = [one for one in packets if one.flags & SYN]
    opens = [one.at_ns for one in syns if one.direction != SERVER]
    answers = [one.at_ns for one in syns if one.direction == SERVER]
    requests = _payload(packets, server=False)
    data = _payload(packets, server=True)
    if len(opens) != 1 or len(answers) != 1 or len(requests) != 1 or not data:
        return None
    return answers[0] - opens[0], data[0].at_ns - requests[0].at_ns


def _steps(packets: Sequence[Packet]) -> list[int]:
    """Times between acknowledgements of the first flight, where only the hosts' work is between
    them.
    """
    acks = [one.at_ns for one in _acks(packets) if one.ack > 1][:5]
    steps = [after - before for before, after in pairwise(acks)]
    return steps if len(steps) == 4 and max(steps) < _QUICK_NS else []


def _look(packets: Sequence[Packet]) -> int | None:
    """How much longer the first retransmission that left alone took to be acknowledged than the
    first segment.
    """
    data, acks = _payload(packets, server=True), _acks(packets)
    again = next((one for one in data if one.mechanism is not None), None)
    if again is None or again.dropped or data[0].dropped or again.length != data[0].length:
        return None
    heard_first = next((one for one in acks if one.ack > 1 and one.at_ns > data[0].at_ns), None)
    heard = next((one for one in acks if one.at_ns > again.at_ns), None)
    alone = all(
        one is again or abs(one.at_ns - again.at_ns) > _ALONE_NS
        for one in packets
        if one.direction == SERVER
    )
    if heard_first is None or heard is None or not alone:
        return None
    if heard.ack <= again.seq or heard.dropped:
        return None
    return (heard.at_ns - again.at_ns) - (heard_first.at_ns - data[0].at_ns)
