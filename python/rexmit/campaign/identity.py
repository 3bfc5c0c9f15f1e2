"""What makes two runs the same run, and in what two differ."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rexmit.engines.engine import Engine
from rexmit.scenario import Scenario, effective
from rexmit.scenario.values import counts_text

_WORDS_ONLY: Final = frozenset({"title", "about"})
"""Keys of a scenario that only a reader minds."""


def identity(engine: Engine, scenario: Scenario, *, capture: bool) -> dict[str, Any]:
    """The part of run.json that has to agree before a run may go on.

    Captures count: a kernel that captures runs on another schedule.
    """
    return {
        "engine": engine.name,
        **engine.identity(),
        "scenario": effective(scenario),
        "seed": counts_text(scenario.all_seeds),
        "capture": capture,
    }


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """A line for every value in which run.json (`there`) differs from what is asked (`here`)."""
    before, now = _flat(there, here), _flat(here, here)
    return [
        f"{key}: {_text(before.get(key))} there, {_text(now.get(key))} here"
        for key in dict.fromkeys([*now, *before])
        if before.get(key) != now.get(key)
    ]


def digest(identity: Mapping[str, Any]) -> str:
    """Six letters that tell runs of one scenario apart."""
    text = json.dumps(_flat(identity, identity), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:6]


def _flat(data: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    def walk(prefix: str, value: object) -> Iterator[tuple[str, Any]]:
        if isinstance(value, dict) and value:
            for key, entry in value.items():
                if key not in _WORDS_ONLY:
                    yield from walk(f"{prefix}.{key}", entry)
        else:
            yield prefix, value

    return {name: value for key in keys for name, value in walk(key, data.get(key))}


def _text(value: object) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
