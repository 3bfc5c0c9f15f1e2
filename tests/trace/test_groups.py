"""Connections by host, port and prefix, and what went wrong in them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.trace.rows import connection, share, write_trace

from rexmit.errors import UserError
from rexmit.tracing.folder import Trace
from rexmit.tracing.groups import by, overall, queued
from rexmit.tracing.sentences import traffic
from rexmit.tracing.summary import summary
from rexmit.tracing.troubles import troubles

WEB = "10.0.0.1:80"


def flow(client: str, server: str = WEB, **values: Any) -> Any:  # noqa: ANN401 - any column
    """A connection between two ends."""
    return connection(flow=f"{client} > {server}", handshake="complete", **values)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """Two clients of one web server, one of them in its prefix; IPv6; one that nobody answers."""
    rows = [
        flow(
            "10.0.0.7:40000",
            forward_bytes=100,
            backward_bytes=10_900,
            backward_unique_bytes=10_000,
            backward_wire_segments=11,
            backward_bytes_retransmitted=900,
            backward_rtt_samples=9,
            backward_rtt_median_s=0.02,
            backward_rtt_p95_s=0.05,
            backward_data_s=0.5,
            waited_s=0.3,
            backward_window_full_s=0.1,
            forward_zero_windows=2,
            forward_zero_window_s=0.2,
            backward_window_probes=3,
            duration_s=1.0,
            end_s=2.0,
            reset_by="client",
            reset_state="established",
            reset_after="server data",
            reset_silence_s=0.01,
        ),
        flow(
            "192.168.5.5:40001",
            forward_bytes=50,
            backward_bytes=1_000,
            backward_unique_bytes=1_000,
            backward_rtt_samples=2,
            backward_rtt_median_s=0.04,
            backward_rtt_p95_s=0.04,
            # All in one round trip: no throughput.
            backward_data_s=0.001,
            duration_s=0.1,
        ),
        flow("[fd00::1:0:0:0:1]:5", "[fd00::2]:443", forward_bytes=7),
        connection(
            flow="192.168.5.5:40002 > 10.0.0.9:25",
            handshake="unanswered",
            forward_syns=3,
        ),
        connection(
            flow="192.168.5.6:40002 > 10.0.0.9:25",
            handshake="unanswered",
            forward_syns=1,
        ),
        connection(
            flow="192.168.5.5:40003 > 10.0.0.1:81",
            handshake="refused",
            forward_syns=1,
            reset_by="server",
            reset_state="syn-sent",
            reset_after="client SYN",
            reset_silence_s=0.001,
        ),
    ]
    rows = [{**row, "connection": number} for number, row in enumerate(rows)]
    return write_trace(tmp_path / "t", connections=rows)


def test_a_host_has_the_connections_of_either_end(trace: Trace) -> None:
    groups = {group.key: group for group in by(trace, "host")}
    assert list(groups)[:2] == ["10.0.0.1", "10.0.0.7"]  # the same wait, more bytes first
    web, client = groups["10.0.0.1"], groups["10.0.0.7"]
    assert (web.connections, web.bytes, web.bytes_retransmitted) == (3, 12_050, 900)
    assert web.share_retransmitted == pytest.approx(900 / 12_050)
    assert web.rtt_median_s == pytest.approx(0.03)
    assert web.rtt_p95_s == 0.05
    assert web.throughput_median_bps == web.throughput_p95_bps == 160_000
    assert web.waited_s == client.waited_s == 0.3
    # The client's window held the server up, and the client reset.
    assert (client.zero_windows, client.zero_window_s, client.window_full_s) == (2, 0.2, 0.0)
    assert (web.zero_windows, web.peer_zero_window_s, web.window_full_s) == (0, 0.2, 0.1)
    assert (client.resets, client.peer_resets, web.resets, web.peer_resets) == (1, 0, 1, 1)
    assert (web.unanswered, web.refused) == (0, 1)
    assert groups["192.168.5.5"].connections == 3
    assert groups["fd00::2"].share_retransmitted == 0.0
    assert groups["10.0.0.9"].share_retransmitted is None
    assert groups["10.0.0.9"].rtt_median_s is None


def test_a_port_is_the_servers(trace: Trace) -> None:
    groups = {group.key: group for group in by(trace, "port")}
    assert set(groups) == {"80", "81", "443", "25"}
    assert (groups["80"].connections, groups["25"].unanswered) == (2, 2)


def test_a_prefix_counts_a_connection_within_it_once(trace: Trace) -> None:
    groups = {group.key: group for group in by(trace, "prefix")}
    assert set(groups) == {"10.0.0.0/24", "192.168.5.0/24", "fd00:0:0:1::/64", "fd00::/64"}
    assert groups["10.0.0.0/24"].connections == 5
    assert groups["10.0.0.0/24"].bytes == 12_050
    assert groups["192.168.5.0/24"].connections == 4


def test_all_connections_are_one_group(trace: Trace) -> None:
    whole = overall(trace)
    assert (whole.key, whole.connections, whole.bytes) == ("all", 6, 12_057)
    assert (whole.unanswered, whole.refused, whole.peer_resets) == (2, 1, 1)


def test_another_key_is_refused(trace: Trace) -> None:
    with pytest.raises(UserError, match="not summed up by colour"):
        by(trace, "colour")  # type: ignore[arg-type]


def test_nothing_sums_up_to_nothing(tmp_path: Path) -> None:
    empty = write_trace(tmp_path / "t")
    assert by(empty, "host") == by(empty, "prefix") == ()
    whole = overall(empty)
    assert (whole.connections, whole.bytes, whole.waited_s) == (0, 0, 0.0)
    assert troubles(empty).held_up == ()


def test_troubles_are_told_by_who_made_them(trace: Trace) -> None:
    found = troubles(trace)
    (held,) = found.held_up
    assert (held.sender, held.receiver) == (WEB, "10.0.0.7:40000")
    assert (held.times, held.closed_s, held.probes, held.full_s) == (2, 0.2, 3, 0.1)
    assert held.share == pytest.approx(0.3)
    assert (found.with_zero_window, found.with_full_window) == (1, 1)
    told = [asdict(one) for one in found.failed]
    assert told == [
        {
            "service": "10.0.0.9:25",
            "handshake": "unanswered",
            "connections": 2,
            "clients": 2,
            "syns": 4,
        },
        {
            "service": "10.0.0.1:81",
            "handshake": "refused",
            "connections": 1,
            "clients": 1,
            "syns": 1,
        },
    ]
    assert (found.unanswered, found.refused, found.half_open) == (2, 1, 0)
    (reset,) = found.resets
    assert (reset.by, reset.state, reset.after) == ("client", "established", "server data")
    assert (reset.service, reset.for_service, reset.services) == (WEB, 1, 1)
    assert found.reset == 1


@pytest.mark.parametrize("end_s", [0.9, 1.1])
def test_no_answer_is_missed_of_which_the_capture_ends_too_soon(
    end_s: float, tmp_path: Path
) -> None:
    def failed(last: int, handshake: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401
        return connection(flow=f"10.0.0.{last}:1 > 10.0.0.9:25", handshake=handshake, **values)

    rows = [
        failed(1, "unanswered", forward_syns=1),
        failed(2, "half-open", forward_syns=1, backward_syns=1),
        # Whoever sends it again has waited for its answer.
        failed(3, "unanswered", forward_syns=2),
        failed(4, "half-open", forward_syns=1, backward_syns=2),
        failed(5, "refused", forward_syns=1),
        connection(connection=9, end_s=end_s),
    ]
    trace = write_trace(
        tmp_path / "t",
        connections=[{**row, "connection": number} for number, row in enumerate(rows)],
    )
    found, late = troubles(trace), end_s > 1
    assert (found.unanswered, found.half_open, found.refused) == (1 + late, 1 + late, 1)
    assert sum(one.unanswered for one in by(trace, "port")) == 1 + late


def test_the_longest_is_found_beyond_those_that_are_told(tmp_path: Path) -> None:
    """Twelve senders are held up by full windows for longer than one by a closed window."""
    rows = [connection(connection=n, forward_window_full_s=9.0) for n in range(12)]
    rows.append(connection(connection=12, backward_zero_windows=1, backward_zero_window_s=0.5))
    found = troubles(write_trace(tmp_path / "t", connections=rows))
    assert len(found.held_up) == 10
    assert found.longest_closed is not None
    assert (found.longest_closed.number, found.longest_closed.closed_s) == (12, 0.5)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, True),
        # Nine different segments; ten, of which five are the same.
        ({"backward_wire_segments": 9}, False),
        ({"backward_wire_segments": 15, "backward_bytes": 20_000}, False),
        ({"backward_data_s": 0.02}, False),
        ({"backward_rtt_median_s": None}, False),
        ({"backward_rtt_median_s": None, "handshake_rtt_s": 0.04}, True),
    ],
)
def test_throughput_is_of_ten_segments_and_of_a_round_trip(
    values: dict[str, Any], told: bool, tmp_path: Path
) -> None:
    usual = {
        "backward_bytes": 10_000,
        "backward_unique_bytes": 10_000,
        "backward_wire_segments": 10,
        "backward_rtt_samples": 5,
        "backward_rtt_median_s": 0.04,
        "backward_data_s": 0.5,
    }
    trace = write_trace(tmp_path / "t", connections=[connection(**{**usual, **values})])
    assert (overall(trace).throughput_median_bps is not None) == told


def test_a_connection_held_up_both_ways_is_one(tmp_path: Path) -> None:
    both: dict[str, Any] = {
        f"{side}_{name}": value
        for side in ("forward", "backward")
        for name, value in (("window_full_s", 0.2), ("zero_windows", 1), ("zero_window_s", 0.1))
    }
    trace = write_trace(
        tmp_path / "t",
        connections=[
            flow("10.0.0.7:40000", connection=n, duration_s=1.0, **both) for n in range(2)
        ],
    )
    found = troubles(trace)
    assert (found.with_zero_window, found.with_full_window) == (2, 2)
    assert found.window_full_s == pytest.approx(0.8)
    assert found.zero_window_s == pytest.approx(0.4)


def test_round_trips_that_grow_with_a_queue_are_told(tmp_path: Path) -> None:
    def seen(number: int, rest_s: float, load_s: float) -> Any:  # noqa: ANN401 - any column
        trips: dict[str, Any] = {"backward_rtt_min_s": rest_s, "backward_rtt_p95_s": load_s}
        return flow(f"10.0.0.7:{number}", connection=number, **trips)

    pairs = [(0.04, 0.2), (0.02, 0.1), (0.02, 0.0224), (0.02, 0.4), (0.02, 0.4)]
    rows = [seen(number, *pair) for number, pair in enumerate(pairs)]
    at_rate = {"owner": "path-rate", "length_ns": 10**9}
    waits = [share(connection=number, **at_rate) for number in range(3)]
    # Less than a round trip, and something else.
    waits += [share(connection=3, owner="path-rate", length_ns=10**8), share(connection=4)]
    made = summary(write_trace(tmp_path / "t", connections=rows, account=waits))
    (told,) = (one for one in traffic.said(made) if one.label == "queue")
    assert told.text == (
        "in 2 of 5 connections (40.0%) round trips grew as data queued: 30 ms at rest, 150 ms "
        "under load (medians); most in connection 0, to 200 ms"
    )
    assert queued(write_trace(tmp_path / "u", connections=rows, account=waits[3:])) is None
