"""The parts of a corpus follow from its seed."""

from __future__ import annotations

import itertools
import json

from rexmit import _core
from rexmit_validate.synth import behaviours
from rexmit_validate.truth import trouble
from rexmit_validate.truth.draw import DETECTORS, draw, draw_all


def test_a_part_is_the_same_whatever_else_is_drawn() -> None:
    parts = draw_all(_core, 7, 130)
    assert [len(part.plan["connections"]) for part in parts] == [25] * 5 + [5]
    assert draw(_core, 7, 3, 25) == parts[3]
    assert draw(_core, 8, 3, 25) != parts[3]


def test_every_trouble_meets_every_detector() -> None:
    count = len(trouble.KINDS) * len(DETECTORS)
    parts = draw_all(_core, 1, 25 * count)
    seen = {
        (
            part.kind,
            part.settings.get("net.ipv4.tcp_sack"),
            part.settings.get("net.ipv4.tcp_recovery"),
        )
        for part in parts
    }
    for kind in trouble.KINDS:
        of_kind = {(sack, recovery) for other, sack, recovery in seen if other == kind}
        assert ("0", None) in of_kind
        assert (None, None) in of_kind
        assert any(recovery in ("0", "4") for _, recovery in of_kind)


def test_plans_are_plain_and_changes_in_the_order_of_time() -> None:
    for part in draw_all(_core, 2, 25 * 24):
        json.dumps(part.plan)
        times = [change["at_ns"] for change in part.plan["changes"]]
        assert times == sorted(times)
        assert bool(times) == (part.kind in ("spikes", "outages", "mixed"))
        if part.kind == "quiet":
            assert "loss" not in " ".join(part.plan["ways"].values())


def test_lost_tails_come_one_after_another() -> None:
    for part in draw_all(_core, 2, 25 * 24):
        tails = part.plan["tails"]
        assert all(one["from_ns"] < one["until_ns"] for one in tails)
        assert all(a["until_ns"] < b["from_ns"] for a, b in itertools.pairwise(tails))
        if part.kind == "tails":
            assert tails


def test_delay_spikes_keep_the_order_of_packets() -> None:
    for part in draw_all(_core, 3, 25 * 24):
        for change in part.plan["changes"]:
            usual = part.plan["ways"][change["way"]]
            spikes = "100%" not in change["netem"] and change["netem"] != usual
            assert not spikes or " rate " in change["netem"]


def test_behaviours_are_drawn_over_the_same_parts() -> None:
    kinds = ("plain", *behaviours.known())
    parts = draw_all(_core, 4, 50, kinds)
    assert parts[:2] == draw_all(_core, 4, 50)
    told = {
        "zero-windows": lambda one: one.get("server_stops") or one.get("client_stops"),
        "deferred-accepts": lambda one: one.get("defer_accept_s"),
        "resets": lambda one: one.get("cut"),
        "think-times": lambda one: one["close_ns"] >= 5_000_000_000,
    }
    assert tuple(told) == kinds[1:]
    for place, kind in enumerate(kinds[1:], 1):
        for plain, part in zip(parts[:2], parts[2 * place :], strict=False):
            assert (part.name, part.behaviour) == (f"{plain.name}+{kind}", kind)
            assert (part.network, part.settings, part.seed) == (
                *(plain.network, plain.settings, plain.seed),
            )
            plans = part.plan["connections"]
            for one, before in zip(plans, plain.plan["connections"], strict=True):
                duplex = any(each["duplex"] for each in one["exchanges"])
                assert bool(told[kind](one)) or (duplex and kind in ("zero-windows", "resets"))
                assert [each["response_bytes"] for each in one["exchanges"]] == [
                    each["response_bytes"] for each in before["exchanges"]
                ]
