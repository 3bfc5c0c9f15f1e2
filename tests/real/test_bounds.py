"""What rows say of times, need and confidence, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.real.bounds import NO_EVIDENCE, broken
from tests.real.clocks import Bounds

from rexmit.store.trace_schema import RETRANSMISSIONS


def why(
    *,
    seen: bool = True,
    waits: Bounds | None = None,
    quiet: bool = False,
    **values: Any,  # noqa: ANN401 - any column
) -> list[str]:
    row: dict[str, Any] = {column.name: None for column in RETRANSMISSIONS}
    row |= {"mechanism": "rto", "confidence": 0.9, "either": False, "need": "needed"}
    row |= {"evidence": "dsack", "detection_s": 0.3, "waited_s": 0.3}
    assert not set(values) - set(row)
    return list(broken(row | values, seen=seen, waits=waits, quiet=quiet))


def test_a_sound_row_has_nothing_wrong() -> None:
    assert why() == []
    assert why(timer_s=0.3, waits=(0.3e9, 0.3e9), quiet=True) == []


@pytest.mark.parametrize("name", ["detection_s", "waited_s"])
def test_no_time_is_negative(name: str) -> None:
    values: dict[str, Any] = {name: -0.001}
    assert why(**values) == [f"{name} is negative"]
    values = {name: None}
    assert why(**values) == []


def test_an_original_that_nobody_saw_is_not_older_than_a_timer() -> None:
    assert why(detection_s=434.0) == []
    unbounded = ["an original that nobody saw, longer ago than any timer"]
    assert why(seen=False, detection_s=434.0) == unbounded
    assert why(seen=False, detection_s=None, waited_s=434.0) == unbounded
    assert why(seen=False, detection_s=61.0) == []


def test_a_timer_fits_the_wait() -> None:
    assert why(timer_s=0.4) == ["timer_s is longer than detection_s"]
    assert why(timer_s=0.2, waits=(0.3e9, 0.3e9)) == [], "an ACK may have set it anew"
    silence = ["timer_s is shorter than the silence before the row"]
    assert why(timer_s=0.2, waits=(0.3e9, 0.3e9), quiet=True) == silence
    assert why(timer_s=0.0003, detection_s=0.0003) == ["timer_s is shorter than any timer"]


def test_away_from_the_sender_the_stamps_bound_the_wait() -> None:
    assert why(detection_s=0.0015, waits=(0.25e9, 0.27e9)) == [
        "detection_s is not the wait that the sender's clock shows"
    ]
    assert why(detection_s=0.26, waits=(0.25e9, 0.27e9)) == []


def test_a_verdict_is_likelier_than_its_runner_up_and_than_one_half() -> None:
    assert why(confidence=0.4, runner_up="tlp", runner_up_confidence=0.5) == [
        "less likely than its runner-up"
    ]
    assert why(confidence=0.4, runner_up_confidence=0.3) == ["named with less than one half"]
    assert why(confidence=0.4, runner_up_confidence=0.3, either=True) == []
    assert why(mechanism="unknown", confidence=0.0, runner_up_confidence=0.3) == []


def test_need_has_evidence() -> None:
    assert why(evidence="none") == [NO_EVIDENCE]
    assert why(evidence="none", need="unknown") == []
