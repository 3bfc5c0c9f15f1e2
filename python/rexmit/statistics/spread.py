"""A quantity of some transfers: how many, their mean and spread, percentiles and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import polars as pl

from rexmit.statistics.estimate import Estimate, mean
from rexmit.statistics.interval import LEVEL, Interval, of_share, ranks, student

P99_FROM: Final = 300
"""Of so many values on there is a 99th percentile."""


@dataclass(frozen=True)
class Spread:
    """Values, each with the unit that it was drawn with (`estimate`). `endless` are those that
    never ended: they are in no mean, and in percentiles larger than all others.
    """

    values: tuple[float, ...] = field(default=(), repr=False)
    units: tuple[Hashable, ...] = field(default=(), repr=False)
    source: Hashable = None
    endless: int = 0

    @property
    def n(self) -> int:
        """Values that ended."""
        return len(self.values)

    @cached_property
    def estimate(self) -> Estimate | None:
        """The mean; None of nothing."""
        return mean(self.values, self.units, self.source) if self.values else None

    @property
    def mean_s(self) -> float | None:
        """Of times in seconds; None of nothing."""
        return None if self.estimate is None else self.estimate.value

    @property
    def sd_s(self) -> float | None:
        """The sample standard deviation (n - 1); None of fewer than two."""
        if self.mean_s is None or self.n < 2:
            return None
        return math.sqrt(math.fsum((v - self.mean_s) ** 2 for v in self.values) / (self.n - 1))

    @property
    def interval(self) -> Interval | None:
        """Of the mean; a quantity that is never negative has no negative end."""
        whole = None if self.estimate is None else self.estimate.interval
        if whole is None or whole.low >= 0 or min(self.values) < 0:
            return whole
        return Interval(0.0, whole.high)

    @cached_property
    def drawn(self) -> int:
        """Units: of independent values as many as values."""
        return len(set(self.units))

    def percentile(self, share: float) -> float | None:
        """Between the two nearest values; infinite where it did not end. None of nothing."""
        if not self._ordered:
            return None
        return self._at(1 + share * (len(self._ordered) - 1))

    def percentile_interval(self, share: float) -> Interval | None:
        """Between the values whose ranks bound it; of values that share units as of so many fewer
        as have the same error in the share below it (Woodruff 1952; Korn and Graubard 1998).
        """
        value, n = self.percentile(share), len(self._ordered)
        if value is None or n < 2:
            return None
        effective = self._effective(lambda one: one <= value)
        low, high = (
            # Of so many fewer each stands for several.
            0.5 + (rank - 0.5) * n / effective
            for rank in ranks(share, effective)
        )
        return Interval(
            self._at(low) if low >= 1 else -math.inf, self._at(high) if high <= n else math.inf
        )

    def share(self, over: float, level: float = LEVEL) -> tuple[float, Interval] | None:
        """Of the values, those that are larger."""
        if not self.values:
            return None
        part = sum(one > over for one in self.values) / self.n
        return part, of_share(part, self._effective(lambda one: one > over), level)

    @cached_property
    def _ordered(self) -> list[float]:
        return sorted(self.values) + [math.inf] * self.endless

    def _at(self, rank: float) -> float:
        """The value of a rank from 1, between two ranks between their values."""
        below = min(int(rank), len(self._ordered))
        low = self._ordered[below - 1]
        part = rank - below
        if part <= 0 or below == len(self._ordered):
            return low
        return low + part * (self._ordered[below] - low) if low < math.inf else low

    def _effective(self, holds: Callable[[float], bool]) -> float:
        """So many independent values would give the share of `holds` the error that it has."""
        n = self.n + self.endless
        if self.drawn == self.n or self.drawn < 2:
            return float(max(self.drawn + self.endless, 1))
        share = mean([float(holds(one)) for one in self.values], self.units, self.source)
        error = share.error
        # So few units know the error itself less well (Korn and Graubard 1998), less still where it
        # comes of a few of them: degrees of freedom by the fourth moment (Satterthwaite).
        end = (1 + LEVEL) / 2
        less = (student(end, n - 1) / student(end, share.even_freedom)) ** 2
        if not error:
            return float(n) * less
        return min(float(n), max(1.0, less * share.value * (1 - share.value) / error**2))


NOTHING: Final = Spread()
"""Of no transfer."""


def spread(
    values: pl.Series | Sequence[float | None],
    units: pl.Series | Iterable[Hashable] | None = None,
    source: Hashable = None,
    endless: int = 0,
) -> Spread:
    """Nulls do not count. Without `units` each value is its own."""
    numbers = range(len(values)) if units is None else units
    known = [(float(v), u) for v, u in zip(values, numbers, strict=True) if v is not None]
    return Spread(tuple(v for v, _ in known), tuple(u for _, u in known), source, endless)


def spread_data(values: Spread) -> dict[str, Any]:
    """As plain data, times in seconds; null where so few say nothing, or where it never ended."""

    def end(share: float) -> dict[str, Any]:
        value, interval = values.percentile(share), values.percentile_interval(share)
        return {
            "value_s": value if value is not None and math.isfinite(value) else None,
            "interval_s": None if interval is None else interval.data,
        }

    return {
        "n": values.n,
        "mean_s": values.mean_s,
        "sd_s": values.sd_s,
        "interval_s": None if values.interval is None else values.interval.data,
        "units": values.drawn,
        "median": end(0.5),
        "p95": end(0.95),
        "p99": end(0.99) if values.n + values.endless >= P99_FROM else None,
        "never_ended": values.endless,
    }
