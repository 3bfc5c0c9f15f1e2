"""A what-if setting by name, as a change to a stack of the model or to a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rexmit.errors import UserError
from rexmit.stacks import core, stack

_Change = Callable[[str], dict[str, object]]

_STACK: Final[Mapping[str, _Change]] = {
    "k": lambda value: {"rttvar_factor": int(value)},
    "m": lambda value: {"srtt_factor": float(value)},
    "a": lambda value: {"rttvar_shift": _shift(value)},
    "b": lambda value: {"srtt_shift": _shift(value)},
    "d": lambda value: (
        {"early_retransmit": "flight", "dupack_threshold": 3}
        if value == "smart"
        else {"dupack_threshold": int(value)}
    ),
    "min_rto": lambda value: {"min_rto": value},
    "init_rto": lambda value: {"initial_rto": value},
    "tlp": lambda value: {"tlp": "rfc8985" if value else "off"},
    "rack": lambda value: {"rack": bool(value)},
    "undo": lambda value: {"undo": bool(value)},
    # Today's test: without SACK that of 3.10 takes each repair for a proof. What it finds out is of
    # use to a sender that takes it back (RFC 5682, section 3.2).
    "frto": lambda value: (
        {"frto": True, "frto_test": "once", "undo": True} if value else {"frto": False}
    ),
    "sack": lambda value: {"sack": bool(value)},
}
"""What a part is among the settings of the model's stacks."""

_SYSCTL: Final[Mapping[str, _Change]] = {
    "d": lambda value: {"net.ipv4.tcp_reordering": int(value)},
    "min_rto": lambda value: {"net.ipv4.tcp_rto_min_us": _micros(value)},
    "tlp": lambda value: {"net.ipv4.tcp_early_retrans": 3 if value else 0},
    "rack": lambda value: {"net.ipv4.tcp_recovery": 1 if value else 0},
    "frto": lambda value: {"net.ipv4.tcp_frto": 2 if value else 0},
    "sack": lambda value: {"net.ipv4.tcp_sack": 1 if value else 0},
}
"""And among a kernel's, of 6.12."""


MANY: Final = ("default", "grid")
"""Words that name many settings."""


def parts(setting: str) -> dict[str, str]:
    """The parts of a setting by name; of a switch, `on` or nothing."""
    values: dict[str, str] = {}
    for part in setting.split(","):
        name, _, value = part.strip().partition("=")
        if name == "smart":
            values |= {"k": "2", "min_rto": "100ms", "a": "1/4", "b": "1/8", "d": "smart"}
        elif value:
            values["min_rto" if name == "rto_min" else name] = value
        else:
            values[name.removeprefix("no-")] = "" if name.startswith("no-") else "on"
    return values


def kind(setting: str) -> str:
    """What it changes: `k`, `min_rto`, `d`, `tlp`, or several with commas."""
    return "smart" if setting == "smart" else ",".join(parts(setting))


def named(words: Sequence[str]) -> list[str]:
    """Those of the words that name one setting."""
    return list(dict.fromkeys(word.strip() for word in words if word.strip() not in MANY))


def expanded(words: Sequence[str]) -> list[str]:
    """The settings that words name: `default` and `grid` (UNC 2007's 720) are many. Raises
    UserError.
    """
    try:
        return list(core().whatif_settings(list(words)))
    except ValueError as error:
        raise UserError(str(error), usage=True) from error


def as_stack(setting: str, name: str) -> dict[str, object]:
    """As settings of a stack of the model. Raises UserError where the model has none such."""
    changes = _changes(setting, _STACK, "the model")
    own = stack(name, {}).settings
    if "dupack_threshold" in changes and own["max_reordering"] == own["dupack_threshold"]:
        # A threshold that does not adapt to reordering does not as another, either.
        changes["max_reordering"] = changes["dupack_threshold"]
    if "initial_rto" in changes and own["fallback_rto"] == own["initial_rto"]:
        # So does a timeout that is also that of data after a handshake without a sample.
        changes["fallback_rto"] = changes["initial_rto"]
    return changes


def applicable(settings: Sequence[str], name: str, changes: Mapping[str, object]) -> list[str]:
    """Those of the settings that a stack with these changes can be run with, and that make it
    another.
    """
    own = stack(name, as_texts(changes)).settings
    there = []
    for setting in settings:
        new = {**changes, **as_stack(setting, name)}
        try:
            other = stack(name, as_texts(new)).settings
        except ValueError:
            # Such as RACK where acknowledgements are worked off in an older order.
            continue
        if other != own:
            there.append(setting)
    return there


def as_texts(changes: Mapping[str, object]) -> dict[str, str]:
    """Changes to a stack as it reads them."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in changes.items()
    }


def as_sysctl(setting: str) -> dict[str, object]:
    """As sysctls of a kernel. Raises UserError where kernels have none such."""
    return _changes(setting, _SYSCTL, "a kernel")


def _changes(setting: str, known: Mapping[str, _Change], where: str) -> dict[str, object]:
    changes: dict[str, object] = {}
    for name, value in parts(setting).items():
        if name not in known or (value == "smart" and known is _SYSCTL):
            raise UserError(
                f"{setting}: {where} cannot be run with it",
                "settings that can: " + ", ".join(known),
                usage=True,
            )
        changes |= known[name](value)
    return changes


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
