"""The plan: which command, which faults, at which moments; all of it from the seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.commands import COMMANDS, Command

DURING = {
    "kill": 4,
    "kill below": 2,
    "int": 2,
    "term": 2,
    "hup": 1,
    "stop": 1,
    "stop below": 1,
    "disk": 3,
    "shares": 2,
    "second": 2,
    "files": 2,
}
"""What happens during an attempt, and how often beside the others."""

BELOW = ("kill below", "stop below")
"""For commands that start others."""

BETWEEN = ("flip", "truncate", "empty", "delete", "duplicate", "folder", "dangling", "leftover")
"""What happens to a file between two attempts."""


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong."""

    kind: str
    moment: float = 0.0
    """As a fraction of the time that the command takes when it is not disturbed."""
    number: float = 0.0
    """From 0 to 1: how much, how long, which."""
    other: float = 0.0


@dataclass(frozen=True)
class Attempt:
    """One call of the command, and what goes wrong with it and after it."""

    jobs: int
    process: bool
    """It is no fork."""
    fault: Fault
    after: tuple[Fault, ...]
    read: bool
    """What is there then is read."""


@dataclass(frozen=True)
class Plan:
    """A campaign: attempts, the last of which is not disturbed."""

    number: int
    command: str
    attempts: tuple[Attempt, ...]

    @property
    def faults(self) -> int:
        """How many."""
        return sum(1 + len(attempt.after) for attempt in self.attempts)


def plans(seed: str, faults: int, names: Sequence[str]) -> list[Plan]:
    """As many campaigns of these commands as have so many faults together."""
    found: list[Plan] = []
    while sum(plan.faults for plan in found) < faults:
        found.append(plan(seed, len(found), names))
    return found


def plan(seed: str, number: int, names: Sequence[str]) -> Plan:
    """A campaign."""
    rng = random.Random(f"{seed}-{number}")  # noqa: S311
    name = rng.choices(names, [COMMANDS[name].weight for name in names])[0]
    attempts = [_attempt(rng, COMMANDS[name]) for _ in range(rng.randint(1, 4))]
    return Plan(number, name, tuple(attempts))


def _attempt(rng: random.Random, command: Command) -> Attempt:
    kinds = {
        kind: weight
        for kind, weight in DURING.items()
        if (kind not in BELOW or command.starts_others) and (kind != "shares" or command.has_shares)
    }
    kind = rng.choices(list(kinds), list(kinds.values()))[0]
    # Near the end results get their place.
    moment = rng.uniform(0.8, 1.02) if rng.random() < 0.3 else rng.uniform(0, 1)
    fault = Fault(kind, moment, rng.random(), rng.random())
    between = [kind for kind in BETWEEN if kind != "leftover" or command.words[0] == "run"]
    after = [
        Fault(rng.choice(between), 0.0, rng.random(), rng.random())
        for _ in range(rng.choice((0, 0, 1, 1, 2)))
    ]
    process = command.may_be_process and rng.random() < 0.1
    return Attempt(
        rng.randint(1, 4),
        process,
        fault,
        tuple(after),
        rng.random() < command.read_share,
    )
