"""Estimates and intervals as a reader has them, in units that fit."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rexmit.statistics.estimate import Estimate
from rexmit.statistics.interval import Interval
from rexmit.wording import NONE, signed_percent

EXACT: Final = "exact"
"""In place of an interval where nothing varied."""

LEGEND: Final = (
    "95 %, ±: interval of the mean; exact: one case, all transfers took as long",
    "?: undecided, 0 is in the interval of the difference, or there is none",
    "undecided 2%: 2 % would have been told from none four times in five",
)


@dataclass(frozen=True)
class Unit:
    """Of the times of a table."""

    name: str
    words: str
    each: float  #: in seconds
    decimals: int

    def text(self, value_s: float | None) -> str:
        """`0.2365` of seconds; `never` of what did not end."""
        if value_s is None or math.isnan(value_s):
            return NONE
        return f"{value_s / self.each:.{self.decimals}f}" if math.isfinite(value_s) else "never"

    def signed(self, value_s: float | None) -> str:
        """With the sign."""
        return NONE if value_s is None else f"{value_s / self.each + 0.0:+.{self.decimals}f}"

    def half(self, value: Estimate | None) -> str:
        """Half the width of the interval: what stands behind ±."""
        if value is None or value.half is None:
            return NONE
        return self.text(value.half) if value.half else EXACT

    def between(self, interval: Interval | None, *, varies: bool = False) -> str:
        """`0.2301 to 0.2390`, `at least 0.2301`; never `exact` of values that `varies` says to."""
        if interval is None:
            return NONE
        if interval.exact:
            return self.text(interval.low) if varies else EXACT
        if interval.low == -math.inf:
            return NONE if interval.high == math.inf else f"up to {self.text(interval.high)}"
        if interval.high == math.inf:
            return f"at least {self.text(interval.low)}"
        return f"{self.text(interval.low)} to {self.text(interval.high)}"


SECONDS: Final = Unit("s", "seconds", 1.0, 4)
_UNITS: Final = (SECONDS, Unit("ms", "milliseconds", 1e-3, 3), Unit("µs", "microseconds", 1e-6, 1))


def fitting(values_s: Iterable[float | None]) -> Unit:
    """The largest unit in which the smallest of the values has two digits or more."""
    known = [abs(value) for value in values_s if value and math.isfinite(value)]
    least = min(known, default=1.0)
    return next(
        (unit for unit in _UNITS if least >= 10 * unit.each / 10**unit.decimals), _UNITS[-1]
    )


def gain(value: Estimate | None) -> str:
    """`-38%`, and `+0.6%?` where it is undecided."""
    if value is None:
        return ""
    unsure = value.lone or value.decided is False
    return signed_percent(value.value * 100) + ("?" if unsure else "")


def gained(value: Estimate | None) -> str:
    """The interval of a gain: `-40% to -36%`, or `undecided 2.1%`."""
    if value is None or value.interval is None:
        return ""
    if value.interval.exact:
        return EXACT
    if not value.decided:
        return f"undecided {100 * (value.smallest or 0.0):.2g}%"
    return " to ".join(
        signed_percent(100 * end) for end in (value.interval.low, value.interval.high)
    )


def width(value: Estimate | None) -> str:
    """Half the width of the interval, of the mean: `±2%`."""
    if value is None or value.half is None or not value.value:
        return ""
    return f"±{100 * value.half / abs(value.value):.2g}%" if value.half else "±0"
