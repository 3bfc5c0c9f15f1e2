"""How far two cells are apart in one quantity, and whether it is more than chance and timers make.

Two cells whose repetitions started at the same phases of the timers are compared repetition by
repetition (seed by seed, of several): what the phases do to both alike is not in the difference. A
difference counts where 0 lies outside of its interval, and in times also where it is more than one
tick of the slower timer: less than a tick may be nothing but where the ticks stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from rexmit.statistics.estimate import Estimate
from rexmit.statistics.interval import Interval
from rexmit.statistics.spread import Spread, spread

#: The quantities there are, by column; times are in seconds, the others are numbers a transfer.
TIMES = {
    "t_total": "t_total_s",
    "t_recover": "t_recover_s",
    "client": "client_s",
    "burst": "completion_s",
}
BURST = "burst"
"""Of every burst of the connections, not of these."""
_TO_THE_END = ("t_total", "client")
"""Those that a transfer that did not end would have had."""
ESTIMATES = {"srtt": "srtt_s", "rto": "rto_s"}
COUNTS = {
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
    "probes": "probes",
    "spurious": "spurious_retransmissions",
    "dsacks": "dsacks",
}
METRICS = {**TIMES, **ESTIMATES, **COUNTS}


@dataclass(frozen=True)
class Side:
    """The transfers of a cell, or their bursts, and what each was drawn with; how many transfers
    never ended, which are no rows.
    """

    rows: pl.DataFrame
    units: pl.Series
    endless: int = 0
    bursts: Side | None = None


@dataclass(frozen=True)
class Difference:
    """B minus A in one quantity. `pairs` is the number of units that were compared one with the
    other, None where the phases differ.
    """

    metric: str
    a: Spread
    b: Spread
    pairs: int | None
    estimate: Estimate | None  #: None where one of the two has no value at all
    least: float  #: in times a tick of the timers

    @property
    def difference(self) -> float | None:
        """B minus A."""
        return None if self.estimate is None else self.estimate.value

    @property
    def interval(self) -> Interval | None:
        """Of the difference; None of a single transfer."""
        return None if self.estimate is None else self.estimate.interval

    @property
    def percent(self) -> float | None:
        """Of A's mean, None for a mean of nothing."""
        if self.difference is None or not self.a.mean_s:
            return None
        return self.difference / self.a.mean_s * 100

    @property
    def limit(self) -> float:
        """What the difference would have to exceed: half the interval, and at least a tick."""
        half = None if self.estimate is None else self.estimate.half
        return max(half or 0.0, self.least)

    @property
    def smallest(self) -> float | None:
        """What so many transfers would have told from nothing four times in five."""
        smallest = None if self.estimate is None else self.estimate.smallest
        return None if smallest is None else max(smallest, self.least)

    @property
    def below_tick(self) -> bool:
        """More than chance makes, but less than a tick of the timers."""
        if self.estimate is None or self.beyond or not self.least:
            return False
        return abs(self.estimate.value) > 1e-9 and bool(self.estimate.decided)

    @property
    def beyond(self) -> bool:
        """More than chance and timers make; also where only one of the two has the quantity."""
        if self.estimate is None:
            return self.one_sided
        # Floating point leaves a trace where nothing differs.
        return abs(self.estimate.value) > self.limit * (1 + 1e-9) + 1e-12

    @property
    def one_sided(self) -> bool:
        """Only one of the two has the quantity."""
        return (self.a.n == 0) != (self.b.n == 0)


@dataclass(frozen=True)
class Firsts:
    """What made the first retransmission in how many transfers (None: no retransmission), in A and
    B.
    """

    a: dict[str | None, int]
    b: dict[str | None, int]
    differing: int | None  #: repetitions in which it was not the same, None where phases differ
    beyond: bool


def difference(metric: str, a: Side, b: Side, *, tick_s: float, paired: bool) -> Difference:
    """Compares one quantity of two cells' transfers."""
    column = METRICS[metric]
    least = tick_s if metric in TIMES else 0.0
    if metric == BURST and a.bursts is not None and b.bursts is not None:
        a, b = a.bursts, b.bursts
    values = [side.rows[column].to_list() for side in (a, b)]
    return _difference(metric, values, (a, b), least, paired=paired)


def _difference(
    metric: str,
    values: Sequence[Sequence[float | None]],
    sides: tuple[Side, Side],
    least: float,
    *,
    paired: bool,
) -> Difference:
    ends = metric in _TO_THE_END or metric == BURST
    mine, theirs = (
        spread(of, side.units, "both" if paired else name, side.endless if ends else 0)
        for of, side, name in zip(values, sides, "ab", strict=True)
    )
    if mine.estimate is None or theirs.estimate is None:
        return Difference(metric, mine, theirs, None, None, least)
    pairs = len({*mine.units} & {*theirs.units}) if paired else None
    return Difference(metric, mine, theirs, pairs or None, theirs.estimate - mine.estimate, least)


def firsts(a: Side, b: Side, *, paired: bool) -> Firsts:
    """Compares what made the first retransmissions: the shares of each mechanism."""
    mechanisms = [side.rows["mechanism"].to_list() for side in (a, b)]
    mine, theirs = map(Counter, mechanisms)

    def differs(name: str | None) -> bool:
        shares = [[float(one == name) for one in of] for of in mechanisms]
        return _difference("share", shares, (a, b), 0.0, paired=paired).beyond

    beyond = any(map(differs, {*mine, *theirs}))
    differing = None
    if paired:
        both = a.rows.join(b.rows, on="repetition", suffix="_b")
        differing = int(both["mechanism"].ne_missing(both["mechanism_b"]).sum())
    return Firsts(dict(mine.most_common()), dict(theirs.most_common()), differing, beyond)


def same_phases(a: pl.DataFrame, b: pl.DataFrame) -> bool:
    """Whether the transfers of two cells can be compared one with the other: those of the same
    number started at the same phase (to a microsecond).
    """
    both = a.join(b, on="repetition", suffix="_b")
    apart = both.select((pl.col("phase_s") - pl.col("phase_s_b")).abs().max().alias("d"))["d"][0]
    return apart is not None and float(apart) < 1e-6
