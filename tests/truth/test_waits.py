"""Whose the time of a connection was, of records and captures by hand."""

from __future__ import annotations

import pytest

from rexmit_validate.score.owners import RIGHT
from rexmit_validate.truth import label, waits
from rexmit_validate.truth.causes import Cause
from rexmit_validate.truth.follow import SentPacket
from rexmit_validate.truth.packets import PointPacket

MS = 1_000_000
THERE = "10.0.0.2:4000 > 10.0.0.1:80"
BACK = "10.0.0.1:80 > 10.0.0.2:4000"
WAY_MS = 10
"""From host to host."""
NEAR = {"h1": "sender", "h2": "receiver"}
OFFSET_NS = 1_000 * MS
"""What the captures' clock shows more than the kernel's."""


def sent(
    flow: str,
    at_ms: int,
    seq: int,
    payload: int,
    flags: int = 0x10,
    *,
    lost: bool,
    late_ms: int = 0,
) -> SentPacket:
    length = payload + (flags & 1) + (flags >> 1 & 1)
    at = at_ms * MS + OFFSET_NS
    packet = PointPacket(at, flow, seq, length, payload, flags, f"{at_ms}".encode())
    arrived = None if lost else at + (WAY_MS + late_ms) * MS
    return SentPacket(packet, at + WAY_MS * MS // 2, arrived)


def record(flow: str, at_ms: int, wait: str, state: str = "open", chrono: int = 1) -> Cause:
    return Cause(flow, at_ms * MS, 1, 1, wait, state, {"chrono": chrono})


SYN = 2
CLIENT = (
    sent(THERE, 0, 0, 0, SYN, lost=False),
    sent(THERE, 20, 1, 0, lost=False),
    sent(THERE, 50, 1, 100, lost=False),
    sent(THERE, 400, 101, 100, lost=False),
    sent(THERE, 490, 201, 0, 0x11, lost=False),
)
SERVER = (
    sent(BACK, 10, 0, 0, SYN | 0x10, lost=False),
    sent(BACK, 100, 1, 1000, lost=False),
    sent(BACK, 100, 1001, 1000, lost=False),
    sent(BACK, 120, 2001, 1000, lost=True),
    sent(BACK, 320, 2001, 1000, lost=False),
    sent(BACK, 420, 3001, 1000, lost=False),
)
OF_CLIENT = (
    record(THERE, 50, "empty"),
    record(THERE, 70, "empty", chrono=0),
    record(THERE, 400, "empty"),
    record(THERE, 420, "empty", chrono=0),
)


def of_server(wait: str) -> tuple[Cause, ...]:
    return (
        record(BACK, 100, wait),
        record(BACK, 120, "empty"),
        record(BACK, 320, "empty", "loss"),
        record(BACK, 340, "empty", chrono=0),
        record(BACK, 420, "empty"),
        record(BACK, 440, "empty", chrono=0),
    )


def told(
    *records: Cause, point: str = "sender", server: tuple[SentPacket, ...] = SERVER
) -> dict[str, list[tuple[str, int, int]]]:
    """Of each direction the owners with their milliseconds, as a point sees them."""
    packets = {"h1": server, "h2": CLIENT}
    flows = {**label.flows(server), **label.flows(CLIENT)}
    outcome = {"client": THERE.split(" > ")[0], "server": BACK.split(" > ")[0]}
    by_flow = {THERE: OF_CLIENT, BACK: records}
    both = waits.sides(flows, packets, by_flow, [outcome])
    rows = waits.rows("000", both, waits.delays(packets, NEAR), OFFSET_NS)
    found: dict[str, list[tuple[str, int, int]]] = {THERE: [], BACK: []}
    for row in rows:
        edges = [(row[f"{point}_{edge}_ns"] - OFFSET_NS) // MS for edge in ("from", "to")]
        line = found[row["flow"]]
        if line and line[-1][0] == row["owner"]:
            edges[0] = line.pop()[1]
        line.append((row["owner"], edges[0], edges[1]))
    return found


def test_each_instant_of_both_directions_has_an_owner_wherever_it_is_seen() -> None:
    """What is at work in one direction is what the other waits for. A point sees what a host does
    when its packets come by: no way is between a host's packet and the point beside the other.
    """
    at_server = [
        ("connecting", 10, 30),
        ("client", 30, 60),
        ("round-trip", 60, 60),
        ("server", 60, 100),
        ("congestion-window", 100, 120),
        ("recovery", 120, 340),
        ("between-requests", 340, 410),
        ("round-trip", 410, 410),
        ("server", 410, 420),
        ("round-trip", 420, 440),
        ("closing", 440, 500),
    ]
    at_client = [
        ("connecting", 0, 20),
        ("client", 20, 50),
        ("round-trip", 50, 70),
        ("server", 70, 110),
        ("congestion-window", 110, 130),
        ("recovery", 130, 350),
        ("between-requests", 350, 400),
        ("round-trip", 400, 420),
        ("server", 420, 430),
        ("round-trip", 430, 430),
        ("closing", 430, 490),
    ]
    for point, expected in (("sender", at_server), ("receiver", at_client)):
        stretches = told(*of_server("cwnd"), point=point)
        assert stretches[BACK] == expected
        assert stretches[THERE] == expected


@pytest.mark.parametrize(("late_ms", "owner"), [(25, "congestion-window"), (15, "round-trip")])
def test_a_queue_that_drains_behind_a_turn_is_the_paths(late_ms: int, owner: str) -> None:
    """If its packets wait there for longer than a round trip takes, here 20 ms, and are no fewer
    than four.
    """
    queued = [sent(BACK, 100, 1 + n * 100, 100, lost=False, late_ms=late_ms) for n in range(4)]
    for packets, whose in ((queued, owner), (queued[:3], "round-trip")):
        stretches = told(
            record(BACK, 100, "empty"),
            record(BACK, 135, "empty", chrono=0),
            server=(*SERVER[:1], *packets),
        )
        assert (whose, 100, 120 + late_ms) in stretches[BACK]


@pytest.mark.parametrize(
    ("wait", "chrono", "owner"),
    [
        ("window", 2, "receiver-window"),
        ("defer-window", 2, "receiver-window"),
        ("nagle", 1, "nagle"),
        ("defer-cwnd", 1, "congestion-window"),
        ("defer", 1, "sender"),
        ("pacing", 1, "sender"),
        ("small-queue", 1, "sender"),
        ("host", 1, "sender"),
        ("empty", 3, "sender"),
        ("empty", 1, "program"),
        ("empty", 0, "server"),
    ],
)
def test_the_kernels_words_become_owners(wait: str, chrono: int, owner: str) -> None:
    first = record(BACK, 100, wait, chrono=chrono)
    stretches = told(first, *of_server("cwnd")[1:])[BACK]
    assert next(one for one in stretches if one[2] == 120)[0] == owner


def test_every_word_of_the_truth_may_be_claimed() -> None:
    assert {*waits.OWNERS.values(), waits.PROGRAM} < set(RIGHT)
