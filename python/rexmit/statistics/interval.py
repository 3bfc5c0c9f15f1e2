"""Intervals, and the quantiles of distributions that they take from the core."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Final

LEVEL: Final = 0.95
"""Of every interval, two-sided."""

POWER: Final = 0.8
"""How often the smallest difference that is named would be told from none."""


@dataclass(frozen=True)
class Interval:
    """Both ends; infinite where so few values bound it on one side only."""

    low: float
    high: float

    @property
    def exact(self) -> bool:
        """Nothing varied: one case, however often it was measured."""
        return self.low == self.high

    def has(self, value: float) -> bool:
        """Whether the value lies in it."""
        return self.low <= value <= self.high

    @property
    def half(self) -> float:
        """Half its width."""
        return (self.high - self.low) / 2

    def times(self, factor: float) -> Interval:
        """In another unit."""
        return Interval(self.low * factor, self.high * factor)

    @property
    def data(self) -> list[float | None]:
        """For JSON: null for an end that is not bounded."""
        return [end if math.isfinite(end) else None for end in (self.low, self.high)]


@cache
def student(share: float, freedom: float) -> float:
    """The quantile of Student's t."""
    from rexmit._core import student_quantile

    return student_quantile(share, freedom)


def tails(errors: float, freedom: float) -> float:
    """How probable so many standard errors or more are, to either side, by Student's t."""
    from rexmit._core import student_tails

    return student_tails(errors, freedom)


@cache
def ranks(share: float, n: float) -> tuple[float, float]:
    """Between which of `n` ordered values, from 1, the quantile of the distribution lies: the
    binomial limits of the number of values below it (David and Nagaraja, Order Statistics, 7.1),
    continued between whole numbers.
    """
    from rexmit._core import binomial_quantile

    tail = (1 - LEVEL) / 2
    # Where already no value below it is likelier than the tail, there is no lower end.
    bounded = (1 - share) ** n <= tail
    low = binomial_quantile(tail, n, share) + 1 if bounded else -math.inf
    return low, binomial_quantile(1 - tail, n, share) + 1


def of_share(share: float, n: float, level: float = LEVEL) -> Interval:
    """The score interval of a share of `n` independent cases (Wilson 1927). Cases that hang
    together count as effectively fewer, which need be no whole number.
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    square = z * z / n
    middle = share + square / 2
    half = z * math.sqrt(share * (1 - share) / n + square / (4 * n))
    low, high = (middle - half) / (1 + square), (middle + half) / (1 + square)
    return Interval(max(0.0, low), min(1.0, high))


def of_ratio(one: float, mine: Interval, other: float, theirs: Interval) -> Interval:
    """Of `one` by `other`, positive both, each with its interval, independent of each other: the
    limits recovered on logarithms (Zou and Donner 2008).
    """
    if min(one, other, mine.low, theirs.low) <= 0:
        high = mine.high / theirs.low if theirs.low > 0 else math.inf
        return Interval(max(0.0, mine.low / theirs.high), high)
    ratio = math.log(one / other)
    down = math.hypot(math.log(one / mine.low), math.log(theirs.high / other))
    up = math.hypot(math.log(mine.high / one), math.log(other / theirs.low))
    return Interval(math.exp(ratio - down), math.exp(ratio + up))
