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
    assert grid[0].key.endswith(" lost=data 5; ack 3")


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
    ],
)
def test_patterns_that_make_no_sense_are_refused(loss: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=re.escape(said)):
        from_plain({**MINIMAL, "loss": loss})
