"""Finding a retransmission's claim."""

from __future__ import annotations

from typing import Any

import pytest
from tests.score.conftest import CLIENT, claim, claims_frame, retransmission, truth_frame

from rexmit_validate.score.claims import of_trace
from rexmit_validate.score.join import Joined, join

WRAP = 1 << 32


def joined(truth: list[dict[str, Any]], claims: list[dict[str, Any]]) -> Joined:
    frame = truth_frame(truth)
    return join(frame.rename({"sender_ns": "at_ns"}), of_trace(claims_frame(claims)))


def found(truth: dict[str, Any], *claims: dict[str, Any]) -> tuple[bool, int]:
    """(claimed, invented claims)."""
    made = joined([truth], list(claims))
    return not made.retransmissions["missed"][0], made.invented.height


def test_the_flow_is_that_of_the_data() -> None:
    assert found(retransmission(), claim()) == (True, 0)
    assert found(retransmission(flow=CLIENT), claim()) == (False, 1)
    assert found(retransmission(flow=CLIENT), claim(flow=CLIENT)) == (True, 0)


@pytest.mark.parametrize(("off_ns", "same"), [(-1000, True), (1500, True), (1501, False)])
def test_captures_in_microseconds_cut_the_time(off_ns: int, same: bool) -> None:
    for at in (1_000_000_000, 1_000_002_999, 1_000_003_000):
        told = claim(time_ns=at + off_ns)
        assert found(retransmission(sender_ns=at), told) == (same, not same)


@pytest.mark.parametrize(
    ("start", "end", "same"),
    [
        (999, 1000, False),
        (999, 1001, True),
        (2447, 2449, True),
        (2448, 3000, False),
        (0, 9999, True),
    ],
)
def test_the_ranges_must_overlap(start: int, end: int, same: bool) -> None:
    assert found(retransmission(), claim(seq_start=start, seq_end=end)) == (same, not same)


@pytest.mark.parametrize(
    ("start", "end"), [(WRAP - 5, 5), (WRAP - 1, 1), (0, 100), (WRAP - 300, 1)]
)
def test_across_the_wrap(start: int, end: int) -> None:
    truth = retransmission(seq_start=WRAP - 100, seq_end=50)
    assert found(truth, claim(seq_start=start, seq_end=end)) == (True, 0)
    assert found(truth, claim(seq_start=50, seq_end=60)) == (False, 1)


def test_a_packet_of_many_segments_is_the_claim_of_each() -> None:
    truth = [retransmission(), retransmission(seq_start=2448, seq_end=3896)]
    made = joined(truth, [claim(seq_start=1000, seq_end=3896, mechanism="rack")])
    assert made.retransmissions["claimed_mechanism"].to_list() == ["rack", "rack"]
    assert made.invented.is_empty()


def test_the_claim_that_covers_most_is_taken_and_the_other_is_not_invented() -> None:
    part = claim(seq_start=1000, seq_end=1200, mechanism="tlp")
    most = claim(seq_start=1200, seq_end=2448, mechanism="rack")
    made = joined([retransmission()], [part, most])
    assert made.retransmissions["claimed_mechanism"].to_list() == ["rack"]
    assert made.invented.is_empty()


def test_two_copies_have_a_claim_each() -> None:
    truth = [retransmission(), retransmission(sender_ns=1_200_000_000)]
    claims = [claim(time_ns=1_200_000_000, mechanism="rto"), claim(mechanism="tlp")]
    assert joined(truth, claims).retransmissions["claimed_mechanism"].to_list() == ["tlp", "rto"]


@pytest.mark.parametrize(
    ("words", "pair"),
    [
        ({"mechanism": "tlp", "runner_up": "rto", "either": True}, "rto|tlp"),
        ({"mechanism": "rto", "runner_up": "tlp", "either": True}, "rto|tlp"),
        ({"mechanism": "tlp", "runner_up": "rto"}, None),
        ({"mechanism": "rack", "runner_up": "tlp", "either": True}, "rack|tlp"),
        ({"mechanism": "tlp", "either": True}, None),
    ],
)
def test_what_the_packets_do_not_tell_apart_is_a_pair(
    words: dict[str, Any], pair: str | None
) -> None:
    assert of_trace(claims_frame([claim(**words)]))["pair"].to_list() == [pair]
