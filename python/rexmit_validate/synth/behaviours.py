"""What hosts do of their own accord, by name: parts of these kinds are made, not rewritten."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rexmit_validate.synth.mixes import Mix

OWN: Final = Path(__file__).with_name("behaviours.toml")


@functools.cache
def known() -> dict[str, Mapping[str, Any]]:
    """Each behaviour: what it is (`about`), and what it changes of a mix's `workload`."""
    return tomllib.loads(OWN.read_text(encoding="utf-8"))


def changed(mix: Mix, name: str) -> Mix:
    """The mix with the behaviour `name` of its hosts."""
    return {**mix, "workload": _over(mix["workload"], known()[name]["workload"])}


def _over(table: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A table with other values where `changes` has some, table by table."""
    merged = dict(table)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _over(merged[key], value) if both else value
    return merged
