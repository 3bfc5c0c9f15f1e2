"""What is wrong with a scenario: the key, what about it, what to write instead."""

from __future__ import annotations

from dataclasses import dataclass

Path = tuple[str | int, ...]
"""The tables, keys and places in lists that lead to a value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    path: Path
    what: str
    remedy: str | None = None
