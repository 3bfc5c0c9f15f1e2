"""How long the hosts of a model work, where that takes time: the table `work` of a stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from rexmit.errors import choice
from rexmit.scenario.units import DURATION, UnitError
from rexmit.scenario.values import WORK

NAMES: Final = (
    "receive",
    "answer",
    "wake",
    "take",
    "leave",
    "write",
    "make",
    "fetch",
    "judge",
    "retransmission",
)
"""What takes time, as docs/reference/scenarios.md describes it and a plan has it."""

_TIME: Final = replace(DURATION, example="21us", most=10**9)
"""Nanoseconds of one piece of work."""

PREFIX: Final = f"{WORK}."
"""Of a setting that says what takes how long."""


def problem(key: str, value: str) -> tuple[str, str] | None:
    """What is wrong with `work.NAME` by itself, and what to do; None where nothing is."""
    name = key.removeprefix(PREFIX)
    if name not in NAMES:
        return "unknown key", choice(name, NAMES, "allowed here")
    try:
        _TIME.parse(value)
    except UnitError as error:
        return str(error), f"allowed: {error.allowed}"
    return None


def apart(changes: Mapping[str, str]) -> tuple[dict[str, str], dict[str, int]]:
    """The settings of a stack's TCP, and what takes how many nanoseconds."""
    others = {key: value for key, value in changes.items() if not key.startswith(PREFIX)}
    takes_ns = {
        name: _TIME.parse(changes[key]) for name in NAMES if (key := f"{PREFIX}{name}") in changes
    }
    return others, takes_ns
