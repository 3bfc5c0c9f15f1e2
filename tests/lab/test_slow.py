"""Whose the time was of connections that real programs slow down, seen at three places."""

from __future__ import annotations

from typing import Final

import pytest

from rexmit_validate.library.troubles import troubles
from rexmit_validate.troubles.judge import MONITORS, Judgement

TROUBLES: Final = (
    *("healthy", "server", "server-300ms", "client-before", "sender-rate", "send-buffer"),
    *(
        "receive-buffer",
        "reader-slow-upload",
        "nagle",
        "slow-start",
        "queue",
        "loss-heavy",
        "bursts",
    ),
    *("policer-4mbit-120kb", "policer-1mbit-30kb", "syn-lost", "unanswered", "peer-gone"),
    *("path-mtu", "tls-first", "tls-set-up"),
)

KINDS: Final = ("plain", "offload")
"""As they were captured, and with merged segments."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judgement:
    """All captures of these troubles."""
    return troubles(troubles=TROUBLES, out=tmp_path_factory.mktemp("troubles") / "made")


@pytest.mark.parametrize("monitor", MONITORS)
@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_first_sentence_names_whose_the_time_was(
    trouble: str, monitor: str, judged: Judgement
) -> None:
    mine = [one for one in judged.at(monitor) if one.trouble == trouble and one.kind in KINDS]
    assert {one.kind for one in mine} == set(KINDS)
    assert [(one.capture.name, one.sentence) for one in mine if not one.right] == []
