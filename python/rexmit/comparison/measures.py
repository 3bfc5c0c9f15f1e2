"""How far two cells are apart in one quantity, and whether it is more than chance and timers make.

Two cells whose repetitions started at the same phases of the timers are compared repetition by
repetition: what the phases do to both alike is not in the difference. A difference counts where it
is more than twice its standard error, and in times also more than one tick of the slower timer:
less than a tick may be nothing but where the ticks stood.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import polars as pl

from rexmit.analysis.cells import Spread, spread

#: The quantities there are, by column; times are in seconds, the others are numbers a transfer.
TIMES = {"t_total": "t_total_s", "t_recover": "t_recover_s", "client": "client_s"}
ESTIMATES = {"srtt": "srtt_s", "rto": "rto_s"}
COUNTS = {
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
    "probes": "probes",
    "spurious": "spurious_retransmissions",
    "dsacks": "dsacks",
}
METRICS = {**TIMES, **ESTIMATES, **COUNTS}

#: So many standard errors are more than chance.
ERRORS = 2.0


@dataclass(frozen=True)
class Difference:
    """B minus A in one quantity. `pairs` is the number of repetitions that were compared one with
    the other, None where the phases differ; `limit` is what the difference would have to exceed.
    """

    metric: str
    a: Spread
    b: Spread
    pairs: int | None
    difference: float | None  #: None where one of the two has no value at all
    percent: float | None  #: of A's mean, None for a mean of nothing
    limit: float
    beyond: bool  #: more than the spread; also where only one of the two has the quantity

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


def difference(
    metric: str, a: pl.DataFrame, b: pl.DataFrame, *, tick_s: float, paired: bool
) -> Difference:
    """Compares one quantity of two cells' transfers."""
    column = METRICS[metric]
    mine, theirs = spread(a[column]), spread(b[column])
    least = tick_s if metric in TIMES else 0.0
    if mine.mean_s is None or theirs.mean_s is None:
        found = Difference(metric, mine, theirs, None, None, None, least, beyond=False)
        return found if mine.n == theirs.n else _one_sided(found)
    pairs: int | None = None
    apart = theirs.mean_s - mine.mean_s
    error = math.sqrt(sum((s.sd_s or 0.0) ** 2 / s.n for s in (mine, theirs)))
    if paired:
        both = a.join(b, on="repetition", suffix="_b").select(
            (pl.col(f"{column}_b") - pl.col(column)).alias("d")
        )
        differences = spread(both["d"])
        if differences.mean_s is not None:
            pairs, apart = differences.n, differences.mean_s
            error = (differences.sd_s or 0.0) / math.sqrt(differences.n)
    limit = max(ERRORS * error, least)
    return Difference(
        metric=metric,
        a=mine,
        b=theirs,
        pairs=pairs,
        difference=apart,
        percent=apart / mine.mean_s * 100 if mine.mean_s else None,
        limit=limit,
        # Floating point leaves a trace where nothing differs.
        beyond=abs(apart) > limit * (1 + 1e-9) + 1e-12,
    )


def _one_sided(found: Difference) -> Difference:
    return Difference(found.metric, found.a, found.b, None, None, None, found.limit, beyond=True)


def firsts(a: pl.DataFrame, b: pl.DataFrame, *, paired: bool) -> Firsts:
    """Compares what made the first retransmissions."""
    mine, theirs = (Counter(frame["mechanism"].to_list()) for frame in (a, b))
    beyond = any(_share_differs(mine, theirs, name) for name in {*mine, *theirs})
    differing = None
    if paired:
        both = a.join(b, on="repetition", suffix="_b")
        differing = int(both["mechanism"].ne_missing(both["mechanism_b"]).sum())
    return Firsts(dict(mine.most_common()), dict(theirs.most_common()), differing, beyond)


def _share_differs(
    mine: Counter[str | None], theirs: Counter[str | None], name: str | None
) -> bool:
    sizes = (mine.total(), theirs.total())
    if 0 in sizes:
        return sizes != (0, 0)
    shares = (mine[name] / sizes[0], theirs[name] / sizes[1])
    error = math.sqrt(sum(p * (1 - p) / n for p, n in zip(shares, sizes, strict=True)))
    return abs(shares[0] - shares[1]) > ERRORS * error


def same_phases(a: pl.DataFrame, b: pl.DataFrame) -> bool:
    """Whether the transfers of two cells can be compared one with the other: those of the same
    number started at the same phase (to a microsecond).
    """
    both = a.join(b, on="repetition", suffix="_b")
    apart = both.select((pl.col("phase_s") - pl.col("phase_s_b")).abs().max().alias("d"))["d"][0]
    return apart is not None and float(apart) < 1e-6
