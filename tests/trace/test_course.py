"""The course of a trace over its time: from tables by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.trace.rows import connection, request, retransmission, share, write_trace

from rexmit.tracing.course import course

S = 1_000_000_000


def test_what_has_an_instant_stands_there_and_the_rest_is_spread(tmp_path: Path) -> None:
    rows = [
        connection(start_s=0.0, end_s=10.0, duration_s=10.0, backward_bytes=9_000),
        connection(connection=1, start_s=4.0, end_s=4.0, forward_bytes=50, handshake_rtt_s=0.02),
    ]
    answered = {"asked_ns": 2 * S, "first_ns": 5 * S, "last_ns": 6 * S}
    asked = request(start_ns=2 * S, sent_bytes=0, received_bytes=4_000, **answered)
    again = [
        retransmission(time_s=8.5, moving_rtt_s=0.3),
        retransmission(time_s=8.6, moving_rtt_s=0.1, need="spurious"),
        retransmission(time_s=10.0, moving_rtt_s=0.1, need="unknown"),
    ]
    waits = [
        share(length_ns=4 * S, longest_ns=3 * S, evidence_ns=5 * S),
        share(owner="closing", length_ns=6 * S, evidence_ns=10 * S),
        share(owner="client", asked=False, length_ns=6 * S, evidence_ns=10 * S),
    ]
    found = course(
        write_trace(
            tmp_path / "t", connections=rows, requests=[asked], retransmissions=again, account=waits
        ),
        steps=10,
    )
    assert found is not None
    assert (found.start_s, found.width_s, found.owners) == (0.0, 1.0, ("server",))
    steps = found.steps
    assert steps["bytes"].to_list() == pytest.approx(
        [500, 500, 500, 500, 550, 4500, 500, 500, 500, 500], abs=1e-3
    )
    # Three seconds at one stretch, and one somewhere.
    assert steps["owner_server"].to_list() == pytest.approx([0.1] * 2 + [1.1] * 3 + [0.1] * 5)
    for need, where in (("needed", 8), ("spurious", 8), ("unknown", 9)):
        assert steps[need].to_list() == [int(step == where) for step in range(10)]
    trips = {4: (0.02, 0.02), 8: (0.2, 0.3), 9: (0.1, 0.1)}
    for step, pair in enumerate(steps.select("rtt_s", "rtt_most_s").rows()):
        assert pair == (trips.get(step, (None, None)))
    assert steps["first_s"].to_list() == [3.0 if step == 2 else None for step in range(10)]


def test_one_instant_and_nothing(tmp_path: Path) -> None:
    only = course(write_trace(tmp_path / "one", connections=[connection(forward_bytes=7)]))
    assert only is not None
    assert only.steps["bytes"].sum() == 7
    assert course(write_trace(tmp_path / "none")) is None
