"""Whether what was measured lies where somebody said that it does: yes, no, or undecided."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rexmit.statistics.interval import Interval


class Verdict(StrEnum):
    """Of a claim."""

    HOLDS = "holds"
    DOES_NOT = "does not"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Band:
    """Where a value is to lie; an infinite end bounds nothing. What lies exactly on an end is in
    it, unless it is `strict`.
    """

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    def judge(self, interval: Interval | None) -> Verdict:
        """It holds where the whole interval lies inside, it does not where all of it is outside."""
        if interval is None:
            return Verdict.UNDECIDED
        if self.strict and interval.exact and interval.low in (self.low, self.high):
            return Verdict.DOES_NOT
        if self.low <= interval.low and interval.high <= self.high:
            return Verdict.HOLDS
        outside = interval.high < self.low or interval.low > self.high
        return Verdict.DOES_NOT if outside else Verdict.UNDECIDED


def every(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Of parts that all have to hold: one that does not decides it. None of none."""
    there = set(verdicts)
    for one in (Verdict.DOES_NOT, Verdict.UNDECIDED, Verdict.HOLDS):
        if one in there:
            return one
    return None


MORE: Final = Band(low=0.0, strict=True)
LESS: Final = Band(high=0.0, strict=True)
"""Than nothing, which nothing at all is not."""


def about(value: float, share: float) -> Band:
    """Within a share of it."""
    return Band(value * (1 - share), value * (1 + share))
