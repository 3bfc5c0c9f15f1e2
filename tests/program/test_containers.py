"""Pieces of what was sent are found and cut in one place, and sets of places are one type."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[2]

SEARCHES: Final = re.compile(r"\bpartition_near\(")
"""What finds a place among what was sent, from where it is likely to be."""

SETS: Final = re.compile(r"BTreeMap<(i64|u64|u32|T), \1>")

"""A field that is a set of places, as intervals."""


def users(pattern: re.Pattern[str]) -> list[str]:
    """The files of the crates in which a pattern is found, tests left out."""
    return [
        name
        for path in sorted((ROOT / "crates").rglob("*.rs"))
        if "/tests" not in (name := path.relative_to(ROOT).as_posix())
        and pattern.search(path.read_text(encoding="utf-8"))
    ]


def test_pieces_are_found_in_one_place() -> None:
    assert users(SEARCHES) == [
        f"crates/trace/src/{name}.rs" for name in ("pieces", "search", "sequence")
    ]


def test_sets_of_places_are_one_type() -> None:
    assert users(SETS) == ["crates/wire/src/intervals.rs"]
