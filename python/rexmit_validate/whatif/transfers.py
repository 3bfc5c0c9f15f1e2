"""The transfers by which predictions are checked: the same losses under each setting.

Each is lost by position, so that under every setting the same packets are lost; nothing is random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rexmit import stacks
from rexmit.whatif.settings import applicable, as_stack, as_sysctl, expanded

OWN: Final = "own"
"""The configuration whose captures are analysed."""

PATTERNS: Final = (
    "none",
    "data -1",
    "data -2..-1",
    "data -4..-1",
    "data 1",
    "data 2",
    "data 3",
    "data -3",
    "data -4",
    "data 3..4",
    "data 5 5#2",
    "data 7 9",
    "data 2 -1",
    "ack 3..5",
    "data -2",
    "data 1..2",
    "data 2 2#2",
    "data 4 6 8",
    "data -1 -1#2",
    "ack 1..2",
)
"""The first `FEW` of these, networks and sizes are what a kernel runs."""

FEW: Final = {"patterns": 14, "networks": 3, "sizes": 3}

NETWORKS: Final[Mapping[str, Mapping[str, str]]] = {
    "10 ms": {"rate": "100Mbit", "delay": "2.5ms"},
    "80 ms": {"rate": "20Mbit", "delay": "20ms"},
    "240 ms": {"rate": "10Mbit", "delay": "60ms"},
    "40 ms": {"rate": "2Mbit", "delay": "10ms"},
}

SEGMENTS: Final = (4, 12, 40, 24)


@dataclass(frozen=True)
class Base:
    """A sender as it is, and the settings to try on it. `changes` make it what it is."""

    stack: str
    settings: Sequence[str]
    changes: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """With what is changed, as in `linux-6.12 tlp=off`."""
        return " ".join([self.stack, *(f"{name}={value}" for name, value in self.changes.items())])


_CHANGED: Final[Sequence[tuple[str, Mapping[str, object]]]] = (
    ("linux-6.12", {"tlp": "off", "rack": False}),
    ("linux-6.12", {"sack": False}),
)
"""Stacks that are tried with something switched off, too, so that it can be switched on."""


def usual(name: str | None = None, words: Sequence[str] = ("default",)) -> list[Base]:
    """The settings that words name, on every stack of the model, or on one, that they change: those
    that `rexmit trace` replays unless told otherwise.
    """
    every: list[tuple[str, Mapping[str, object]]] = [(stack, {}) for stack in stacks.names()]
    transfers = []
    for stack, changes in [*every, *_CHANGED]:
        if name in (None, stack):
            settings = applicable(expanded(words), stack, changes)
            transfers.append(Base(stack, settings, changes))
    return transfers


KERNEL_SETTINGS: Final = (
    *("min_rto=100ms", "rto_min=50ms", "d=2", "d=4", "no-tlp", "no-rack", "no-sack"),
)


def scenario(base: Base, *, seed: int, kernel: bool) -> dict[str, Any]:
    """The scenario: the sender as it is, and with each setting."""
    networks, sizes, patterns = list(NETWORKS), list(SEGMENTS), list(PATTERNS)
    if kernel:
        networks, sizes = networks[: FEW["networks"]], sizes[: FEW["sizes"]]
        patterns = patterns[: FEW["patterns"]]
    configs: dict[str, Any] = {OWN: {} if kernel else {"stack": dict(base.changes)}}
    for setting in base.settings:
        if kernel:
            configs[setting] = {"sysctl": as_sysctl(setting)}
        else:
            configs[setting] = {"stack": {**base.changes, **as_stack(setting, base.stack)}}
    return {
        "format": 1,
        "title": "The same losses under other settings",
        "seed": seed,
        "repeat": 1,
        "networks": {name: dict(NETWORKS[name]) for name in networks},
        "configs": configs,
        "workload": {"segments": sizes},
        "loss": {"rule": "pattern", "pattern": patterns},
    }
