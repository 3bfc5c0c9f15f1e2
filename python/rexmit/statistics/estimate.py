"""What is reckoned of means, with what each unit of the sample does to it.

A unit is what was drawn by itself: a repetition, a connection whose bursts belong together, a seed
whose repetitions do. An estimate keeps, beside its value, by how much every unit moves it from
there (Hampel's influence values; for ratios linearised, as in Cochran, Sampling Techniques, 6.4).
Differences and ratios of estimates add these up by unit. So what two configurations owe to the same
repetition cancels, which is a paired comparison, and what units of two runs do stays apart.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rexmit.statistics.interval import LEVEL, POWER, Interval, student

Source = Hashable
"""Whose units they are: units of one name are the same unit where their sources are the same."""


@dataclass(frozen=True)
class Estimate:
    """A value and the influence of each unit on it, by source. It is `lone` where it rests on a
    mean of a single unit, of which nobody can say how far off it is.
    """

    value: float
    influences: Mapping[Source, Mapping[Hashable, float]]
    lone: bool = False

    def __add__(self, other: Estimate) -> Estimate:
        return self._with(other, self.value + other.value, 1.0, 1.0)

    def __sub__(self, other: Estimate) -> Estimate:
        return self._with(other, self.value - other.value, 1.0, -1.0)

    def __truediv__(self, other: Estimate) -> Estimate:
        ratio = self.value / other.value
        return self._with(other, ratio, 1 / other.value, -ratio / other.value)

    def times(self, factor: float) -> Estimate:
        """So many times as much."""
        return self._with(None, self.value * factor, factor, 0.0)

    def _with(self, other: Estimate | None, value: float, mine: float, theirs: float) -> Estimate:
        influences: dict[Source, dict[Hashable, float]] = {}
        for one, factor in ((self, mine), (other, theirs)):
            for source, units in one.influences.items() if one else ():
                of = influences.setdefault(source, {})
                for unit, influence in units.items():
                    of[unit] = of.get(unit, 0.0) + factor * influence
        return Estimate(value, influences, self.lone or (other is not None and other.lone))

    @cached_property
    def _variances(self) -> list[tuple[float, int]] | None:
        """Of each source, with its degrees of freedom; None where they cannot be told."""
        if self.lone:
            return None
        variances = []
        for units in self.influences.values():
            squares = math.fsum(influence * influence for influence in units.values())
            variances.append((squares * len(units) / (len(units) - 1), len(units) - 1))
        return variances or None

    @cached_property
    def error(self) -> float | None:
        """The standard error; None of a single unit. What floating point leaves is none."""
        if self._variances is None:
            return None
        error = math.sqrt(math.fsum(variance for variance, _ in self._variances))
        return error if error > 1e-12 * max(abs(self.value), 1e-3) else 0.0

    @cached_property
    def freedom(self) -> float:
        """Degrees of freedom, of several sources Satterthwaite's."""
        every = self._variances or []
        whole = math.fsum(variance for variance, _ in every)
        parts = math.fsum(variance * variance / freedom for variance, freedom in every)
        return whole * whole / parts if parts else math.inf

    @property
    def even_freedom(self) -> float:
        """Of one source; less where a few units make most of the error."""
        (units,) = self.influences.values()
        squares = [influence * influence for influence in units.values()]
        whole = math.fsum(squares)
        apart = math.fsum(one * one for one in squares) - whole * whole / len(squares)
        most = len(squares) - 1
        return min(most, max(1.0, 2 * whole * whole / apart)) if apart > 0 else most

    @cached_property
    def interval(self) -> Interval | None:
        """Student's; None of a single unit, of which nothing can be said."""
        return self.interval_at(LEVEL)

    def interval_at(self, level: float) -> Interval | None:
        """The same of another level."""
        if self.error is None:
            return None
        half = student((1 + level) / 2, self.freedom) * self.error if self.error else 0.0
        return Interval(self.value - half, self.value + half)

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.interval is None else self.interval.half

    @property
    def smallest(self) -> float | None:
        """What the value would have to be to be told from 0 four times in five."""
        if not self.error:
            return self.error
        two = student((1 + LEVEL) / 2, self.freedom) + student(POWER, self.freedom)
        return two * self.error

    @property
    def decided(self) -> bool | None:
        """Whether 0 lies outside of the interval, or is all there is; None where there is none."""
        if self.interval is None:
            return None
        return self.interval.exact or not self.interval.has(0.0)


def mean(values: Sequence[float], units: Sequence[Hashable], source: Source) -> Estimate:
    """Of one value or more, each with its unit."""
    # fsum, so that the figure does not depend on the order of the rows
    value = math.fsum(values) / len(values)
    influences: dict[Hashable, float] = {}
    for one, unit in zip(values, units, strict=True):
        influences[unit] = influences.get(unit, 0.0) + (one - value) / len(values)
    return Estimate(value, {source: influences}, lone=len(influences) < 2)


def known(value: float) -> Estimate:
    """What somebody printed: no unit of ours has a say in it."""
    return Estimate(value, {})


def average(estimates: Iterable[Estimate]) -> Estimate | None:
    """The mean of estimates; None of none."""
    every = list(estimates)
    if not every:
        return None
    whole = every[0]
    for one in every[1:]:
        whole = whole + one
    return whole.times(1 / len(every))


def relative(one: Estimate | None, base: Estimate | None) -> Estimate | None:
    """What one is off the base, as a share of it; None where there is none."""
    if one is None or base is None or base.value == 0:
        return None
    ratio = one / base
    return Estimate(ratio.value - 1, ratio.influences, ratio.lone)
