"""What is wrong with a scenario: the key, what about it, what to write instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from rexmit.errors import UserError, argument

MOST_TOLD: Final = 20
"""Errors that are told at a time."""

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


def report(where: Locate, every: Iterable[Problem]) -> UserError:
    """All problems, of which there is one at least, in one error."""
    # What is near each, to guess at what was meant, takes a while to find.
    problems = list(islice(every, MOST_TOLD + 1))
    more = len(problems) > MOST_TOLD
    problems = problems[:MOST_TOLD]

    def line(problem: Problem) -> str:
        key = ".".join(
            f'"{part}"' if isinstance(part, str) and "." in part else str(part)
            for part in problem.path
        )
        return f"{where(problem.path)}: {key}: {problem.what}"

    changed = f"{argument('settings')} "
    usage = any(where(problem.path).startswith(changed) for problem in problems)
    if len(problems) == 1:
        return UserError(line(problems[0]), problems[0].remedy, usage=usage)
    lines = [
        text
        for problem in problems
        for text in (line(problem), *((f"  {problem.remedy}",) if problem.remedy else ()))
    ]
    what = f"more than {MOST_TOLD} errors" if more else f"{len(problems)} errors"
    return UserError(f"{where(())}: {what}", lines, usage=usage)
