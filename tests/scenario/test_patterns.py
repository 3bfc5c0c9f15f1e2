"""Loss patterns in scenarios: read by the rule's own parser, refused where they make no sense."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rexmit.campaign.grid import cells
from rexmit.errors import UserError
from rexmit.scenario import effective, from_plain

MINIMAL: dict[str, Any] = {
    "format": 1,
    "networks": {"near": {"rate": "1Mbit", "delay": "1ms"}},
    "configs": {"tlp": {}},
}


def test_patterns_are_an_axis_in_their_shortest_form() -> None:
    loss = {"rule": "pattern", "pattern": ["data  5..5;ack 3", "none"]}
    scenario = from_plain({**MINIMAL, "loss": loss})
    assert scenario.loss.patterns == ("data 5; ack 3", "none")
    assert from_plain(effective(scenario)).loss == scenario.loss
    grid = cells(scenario)
    assert [cell.loss_pattern for cell in grid] == ["data 5; ack 3", "none"]
    assert [cell.label for cell in grid] == ["near tlp data 5; ack 3", "near tlp none"]


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ({"rule": "pattern"}, "loss.pattern: missing"),
        ({"pattern": "data 1"}, 'not a key of the rule "tail"'),
        ({"rule": "pattern", "pattern": "data 1", "segments": 2}, "loss.segments: not a key"),
        (
            {"rule": "pattern", "pattern": "dat 1"},
            '"dat" at column 1, expected path, burst, data or ack',
        ),
        ({"rule": "pattern", "pattern": ["data 1", "data 1#1"]}, "stands there twice"),
        ({"rule": "pattern", "pattern": "data 5 101..120"}, "100 segments has no segment 101"),
        ({"rule": "pattern", "pattern": ["none", "ack 200; data -101"]}, "has no segment 101"),
    ],
)
def test_patterns_that_make_no_sense_are_refused(loss: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        from_plain({**MINIMAL, "loss": loss})


def test_transmissions_and_acknowledgements_are_no_positions() -> None:
    loss = {"rule": "pattern", "pattern": ["data 100#101 -100 1..400 fin; ack 150"]}
    assert from_plain({**MINIMAL, "loss": loss}).loss.patterns


TAIL: dict[str, Any] = {**MINIMAL, "loss": {"segments": [0, 5], "mode": "hold"}}


def test_a_change_of_the_rule_leaves_the_file_s_keys_of_the_other_rule_out() -> None:
    changes = ["loss.rule=pattern", "loss.pattern=data 3"]
    assert from_plain(TAIL, settings=changes).loss.patterns == ("data 3",)
    assert from_plain(TAIL, settings=changes[::-1]).loss.patterns == ("data 3",)
    pattern = {**MINIMAL, "loss": {"rule": "pattern", "pattern": "data 3"}}
    assert from_plain(pattern, settings=["loss.rule=tail"]).loss.losses == ((0, None),)
    work = {**MINIMAL, "workload": {"segments": 100}}
    bursts = from_plain(work, settings=["workload.server=burst", "workload.burst_segments=9"])
    assert bursts.workload.server == "burst"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (["loss.rule=pattern"], "loss.pattern: missing"),
        (
            ["loss.rule=pattern", "loss.pattern=data 3", "loss.segments=2"],
            'loss.segments: not a key of the rule "pattern"',
        ),
        (["loss.pattern=data 3"], 'loss.pattern: not a key of the rule "tail"'),
        (["loss.rule=both"], "loss"),
    ],
)
def test_keys_of_two_rules_are_refused(changes: list[str], said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        from_plain(TAIL, settings=changes)
