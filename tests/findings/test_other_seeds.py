"""Verdicts by a second seed, beside those that documents have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from scripts.findings import other_seeds, other_seeds_tables, results, stamps
from scripts.findings.results import Data

KNOWN = Data(
    tables={
        "claims": [
            {"key": "one", "bench": "holds", "lab": "holds"},
            {"key": "two", "bench": "does not", "lab": "undecided"},
            {"key": "three", "bench": "-", "lab": "by construction"},
        ]
    }
)


def table(monkeypatch: pytest.MonkeyPatch, **bench: str) -> str:
    """Of verdicts on the bench; on the lab's wires they are as known."""
    monkeypatch.setattr(results, "read", lambda _: SimpleNamespace(data=KNOWN))
    rows = [
        {"finding": "tlp-2013", "where": where, "key": row["key"], "holds": holds}
        for row in KNOWN.rows("claims")
        for where, holds in (("bench", bench[str(row["key"])]), ("lab", row["lab"]))
    ]
    return other_seeds_tables.TABLES["tlp-2013"](Data({"seed": 7}, {"verdicts": rows}))


def test_what_is_the_same_is_counted_and_what_cannot_be_told_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = table(monkeypatch, one="holds", two="does not", three="-")
    assert text == "By seed 7, 4 of 4 verdicts are the same, 0 are the opposite."


def test_what_differs_is_named_and_opposites_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = table(monkeypatch, one="undecided", two="holds", three="-")
    assert text.startswith("By seed 7, 2 of 4 verdicts are the same, 1 are the opposite:\n\n")
    assert "| `one` | holds | undecided | bench |" in text
    assert "| `two` | does not | holds | bench |" in text
    assert "three" not in text


def test_a_change_of_the_code_draws_another_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    first = other_seeds.seed()
    assert other_seeds.seed() == first
    monkeypatch.setattr(stamps, "stamps", lambda patterns: dict.fromkeys(patterns, "other"))
    assert other_seeds.seed() != first
