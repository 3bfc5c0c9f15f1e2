"""What becomes of a sender's state when segments are lost is decided in one place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[2]

MACHINE: Final = "crates/tcp/src/recovery/"

DECIDERS: Final[tuple[str, ...]] = (
    r"\bdupack::(?:reason|marks|says_lost|head_is_lost|sack_is_far|reach_is_far)\(",
    r"\bearly_retransmit::(?:is_due|pause)\(",
    r"\bfrto::(?:begins|on_ack)\(",
    r"\brack::timer\(",
    r"\breneging::wait\(",
    r"\breordering::(?:note_segments|note_bytes|limit_duplicates)\(",
    r"\brto::(?:rearm|reordering_after)\(",
    r"\btlp::schedule\(",
    r"\bundo::waits_beyond_point\(",
    r"\bCaState::at_peace\(",
    r"\.(?:may_undo|proved_by_dsack|begin_by_timeout)\(",
)
"""What the machine asks on behalf of every sender."""


def test_only_the_machine_asks_what_moves_a_state() -> None:
    asks = re.compile("|".join(DECIDERS))
    asked = [
        f"{name}: {found[0]}"
        for path in sorted((ROOT / "crates").rglob("*.rs"))
        if not (name := path.relative_to(ROOT).as_posix()).startswith(MACHINE)
        for found in asks.finditer(path.read_text(encoding="utf-8"))
    ]
    assert asked == []


def test_the_machine_asks_each_of_them() -> None:
    machine = "\n".join(
        path.read_text(encoding="utf-8")
        for path in sorted((ROOT / MACHINE / "machine").rglob("*.rs"))
    )
    assert [decider for decider in DECIDERS if not re.search(decider, machine)] == []
