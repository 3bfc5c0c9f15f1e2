"""A what-if setting by name, as a change to a stack of the model or to a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rexmit.errors import UserError

_STACK: Final[Mapping[str, Callable[[str], tuple[str, object]]]] = {
    "k": lambda value: ("rttvar_factor", int(value)),
    "m": lambda value: ("srtt_factor", float(value)),
    "a": lambda value: ("rttvar_shift", _shift(value)),
    "b": lambda value: ("srtt_shift", _shift(value)),
    "d": lambda value: ("dupack_threshold", int(value)),
    "min_rto": lambda value: ("min_rto", value),
    "tlp": lambda value: ("tlp", "rfc8985" if value else "off"),
    "rack": lambda value: ("rack", bool(value)),
}
"""What a part is among the settings of the model's stacks."""

_SYSCTL: Final[Mapping[str, Callable[[str], tuple[str, int]]]] = {
    "d": lambda value: ("net.ipv4.tcp_reordering", int(value)),
    "min_rto": lambda value: ("net.ipv4.tcp_rto_min_us", _micros(value)),
    "tlp": lambda value: ("net.ipv4.tcp_early_retrans", 3 if value else 0),
    "rack": lambda value: ("net.ipv4.tcp_recovery", 1 if value else 0),
}
"""And among a kernel's, of 6.12."""


def parts(setting: str) -> dict[str, str]:
    """The parts of a setting by name; of a switch, `on` or nothing."""
    found: dict[str, str] = {}
    for part in setting.split(","):
        name, _, value = part.strip().partition("=")
        if name == "smart":
            found |= {"k": "2", "min_rto": "100ms", "a": "1/4", "b": "1/8", "d": "smart"}
        elif value:
            found["min_rto" if name == "rto_min" else name] = value
        else:
            found[name.removeprefix("no-")] = "" if name.startswith("no-") else "on"
    return found


def kind(setting: str) -> str:
    """What it changes: `k`, `min_rto`, `d`, `tlp`, or several with commas."""
    return "smart" if setting == "smart" else ",".join(parts(setting))


def as_stack(setting: str) -> dict[str, object]:
    """As settings of a stack of the model. Raises UserError where the model has none such."""
    return dict(_changes(setting, _STACK, "the model"))


def as_sysctl(setting: str) -> dict[str, object]:
    """As sysctls of a kernel. Raises UserError where kernels have none such."""
    return dict(_changes(setting, _SYSCTL, "a kernel"))


def _changes(
    setting: str, known: Mapping[str, Callable[[str], tuple[str, object]]], where: str
) -> list[tuple[str, object]]:
    made = []
    for name, value in parts(setting).items():
        if name not in known or value == "smart":
            raise UserError(
                f"{setting}: {where} cannot be run with it",
                "settings that can: " + ", ".join(known) + ", with a fixed d",
                usage=True,
            )
        made.append(known[name](value))
    return made


def _shift(value: str) -> int:
    return round(1 / _fraction(value)).bit_length() - 1


def _fraction(value: str) -> float:
    over, _, under = value.partition("/")
    return float(over) / float(under or 1)


def _micros(value: str) -> int:
    for unit, micros in (("us", 1), ("ms", 1_000), ("s", 1_000_000)):
        if value.endswith(unit):
            return round(float(value.removesuffix(unit)) * micros)
    raise UserError(f"{value} is no time", "as in 100ms", usage=True)
