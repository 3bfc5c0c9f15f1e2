"""Whose the time is said to be, held against stretches by hand."""

from __future__ import annotations

import polars as pl
import pytest

from rexmit import _core
from rexmit_validate.score import owners

FLOW = "10.0.0.1:80 > 10.0.0.2:40000"


def truth(*stretches: tuple[int, int, str]) -> pl.DataFrame:
    rows = [(FLOW, *stretch) for stretch in stretches]
    return pl.DataFrame(rows, schema=["flow", "from_ns", "to_ns", "owner"], orient="row")


def account(*stretches: tuple[int, int, str], asked: bool = True) -> pl.DataFrame:
    rows = [(FLOW, owner, end, end - begin, asked) for begin, end, owner in stretches]
    schema = ["flow", "owner", "evidence_ns", "length_ns", "asked"]
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_every_instant_is_judged_that_both_know() -> None:
    was = truth((0, 100, "server"), (100, 400, "congestion-window"), (400, 500, "recovery"))
    said = account((50, 120, "server"), (120, 300, "slow-start"), (300, 450, "path-rate"))
    made = owners.judge(was, said)
    assert made.instants.counts == {
        ("server", "server"): 50,
        ("congestion-window", "server"): 20,
        ("congestion-window", "congestion-window"): 280,
        ("recovery", "congestion-window"): 50,
    }
    assert made.instants.accuracy == pytest.approx(330 / 400)
    most = ("congestion-window", "congestion-window")
    assert made.largest.counts == {most: 1}


def test_a_gap_is_of_no_claim_and_truths_that_overlap_count_once() -> None:
    was = truth((0, 100, "server"), (90, 200, "round-trip"))
    said = account((10, 20, "server"), (95, 150, "round-trip"))
    assert owners.judge(was, said).instants.counts == {
        ("server", "server"): 10,
        ("server", "round-trip"): 5,
        ("round-trip", "round-trip"): 50,
    }


def test_unknown_is_wrong_and_can_be_left_out() -> None:
    was = truth((0, 100, "sender"))
    made = owners.judge(was, account((0, 60, "unknown"), (60, 100, "sender"))).instants
    assert made.accuracy == pytest.approx(0.4)
    assert owners.without_unknown(made).accuracy == 1.0


def test_only_the_direction_that_was_waited_for_is_judged() -> None:
    was = truth((0, 100, "program"), (100, 150, "nagle"))
    said = ((0, 100, "client"), (100, 150, "sender"))
    made = owners.judge(was, account(*said))
    assert made.largest.counts == {("program", "program"): 1}
    assert made.instants.counts[("nagle", "sender")] == 50
    assert owners.judge(was, account(*said, asked=False)).instants.counts == {}
    both = made + made
    assert both.instants.retransmissions == 300
    assert both.largest.retransmissions == 2


def test_all_that_may_be_claimed_is_an_owner() -> None:
    known = set(_core.owners())
    assert {claim for claims in owners.RIGHT.values() for claim in claims} <= known
