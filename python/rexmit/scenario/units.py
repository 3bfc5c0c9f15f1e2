"""Amounts with their units as text, and back: "7.2Mbit", "2.5ms", "144kB", "1%".

Reading is exact: a decimal number times the unit has to be a whole number of the smallest unit (bit
per second, nanosecond, byte). Prefixes are decimal, `Ki`, `Mi` and `Gi` binary. Case matters: "m"
and "M" are nine orders of magnitude apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from rexmit.errors import closest
from rexmit.scenario.problem import as_written


class UnitError(ValueError):
    """A text is no amount of its kind; the message says why, `allowed` what would be right."""

    def __init__(self, message: str, allowed: str) -> None:
        super().__init__(message)
        self.allowed = allowed


@dataclass(frozen=True, slots=True)
class Quantity:
    """A kind of amount: what it is called, its units in the smallest one, its bounds."""

    name: str
    units: dict[str, int]
    example: str
    smallest: str
    least: int
    most: int

    def parse(self, value: object) -> int:
        """The amount in the smallest unit. Raises UnitError."""
        number, unit = self._split(value)
        scale = self.units.get(unit)
        if scale is None:
            near = closest(unit, list(self.units))
            message = f'unknown unit "{unit}"' if unit else f'"{number}" has no unit'
            if unit and near:
                message += f'; did you mean "{number}{near}"?'
            raise UnitError(message, self.allowed)
        exact = number * scale
        if exact != exact.to_integral_value():
            raise UnitError(f'"{value}" is no whole number of {self.smallest}', self.allowed)
        amount = int(exact)
        if not self.least <= amount <= self.most:
            low, high = self.text(self.least), self.text(self.most)
            raise UnitError(f'"{value}" is not between {low} and {high}', self.allowed)
        return amount

    def text(self, amount: int) -> str:
        """The amount with the unit that writes it shortest; `parse` gives the amount back."""
        if amount == 0:
            return f"0{next(iter(self.units))}"
        texts = [
            f"{_plain(Decimal(amount) / scale)}{unit}"
            for unit, scale in self.units.items()
            if (Decimal(amount) / scale) * scale == amount
        ]
        return min(texts, key=lambda text: (text.startswith("0."), len(text)))

    @property
    def allowed(self) -> str:
        """What may be written, in one line."""
        return f'{self.name} is written like "{self.example}"; units: {", ".join(self.units)}'

    def _split(self, value: object) -> tuple[Decimal, str]:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise UnitError(f"{as_written(value)} is no {self.name}", self.allowed)
        if not isinstance(value, str):
            raise UnitError(f"{value} has no unit", self.allowed)
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-zµ%/]*)", value.strip())
        if match is None:
            raise UnitError(f'"{value}" is no {self.name}', self.allowed)
        return Decimal(match[1]), match[2]


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


RATE: Final = Quantity(
    name="rate",
    units={"Gbit": 10**9, "Mbit": 10**6, "kbit": 10**3, "bit": 1},
    example="7.2Mbit",
    smallest="bits per second",
    least=1_000,
    most=1_000 * 10**9,
)
"""Bits per second."""

DURATION: Final = Quantity(
    name="duration",
    units={"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1},
    example="2.5ms",
    smallest="nanoseconds",
    least=0,
    most=3_600 * 10**9,
)
"""Nanoseconds."""

LINK_DELAY: Final = replace(DURATION, most=100 * 10**9)
"""Nanoseconds that a link delays: tc takes less than 270 s, and TCP gives up before."""

SIZE: Final = Quantity(
    name="size",
    units={
        "GB": 10**9,
        "MB": 10**6,
        "kB": 10**3,
        "B": 1,
        "GiB": 2**30,
        "MiB": 2**20,
        "KiB": 2**10,
    },
    example="144kB",
    smallest="bytes",
    least=1,
    most=4 * 10**9,
)
"""Bytes."""

_SHARE_STEP: Final = 10**7
_SHARE: Final = Quantity(
    name="share",
    units={"%": _SHARE_STEP},
    example="1%",
    smallest="billionths",
    least=0,
    most=100 * _SHARE_STEP,
)


def parse_share(value: object) -> float:
    """A share of one, 0 to 1, from a percentage like "1%". Raises UnitError."""
    return _SHARE.parse(value) / (100 * _SHARE_STEP)


def share_text(share: float) -> str:
    """The percentage that `parse_share` gives `share` back for."""
    return f"{_plain(Decimal(round(share * 100 * _SHARE_STEP)) / _SHARE_STEP)}%"
