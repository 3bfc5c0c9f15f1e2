"""What is wrong with a scenario: the key, what about it, what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""The tables, keys and places in lists that lead to a value."""

Locate = Callable[[Path], str]
"""At which line of which file, or in which change, a key stands."""


def nowhere(_path: Path) -> str:
    """Of a scenario of no file."""
    return "scenario"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    path: Path
    what: str
    remedy: str | None = None


def as_written(value: object) -> str:
    """A value as TOML has it, or nearly."""
    return json.dumps(value, ensure_ascii=False, default=str)
