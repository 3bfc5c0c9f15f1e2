"""Whether confidences are probabilities: of rows said with so much, how many are right.

A reliability diagram (DeGroot and Fienberg 1983) puts rows into bins of what was said, and holds
the mean of what was said against the share that is right. The expected calibration error is the
mean distance of the two, weighed by rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import polars as pl

from rexmit.statistics.interval import of_share
from rexmit_validate.score.join import Joined

EDGES: Final = (0.0, 0.5, 0.65, 0.75, 0.85, 0.95, 0.99, 1.0)
"""Of the bins; each begins at its lower edge, and the last has both."""

CHECKED: Final = (0.85, 0.95)
TARGET: Final = (0.88, 0.92)
"""Of rows said with 0.9 (a probability within CHECKED), a share within TARGET is to be right."""

WHAT: Final[Mapping[str, tuple[str, str]]] = {
    "mechanism": ("confidence", "right"),
    "need": ("need_confidence", "need_right"),
    "retransmission": ("certainty", "real"),
}
"""What is said: the column of its probability, and that of whether it is so."""


@dataclass(frozen=True)
class Bin:
    """Rows said with a probability from `low` to `high`; `expected` is the sum of these."""

    low: float
    high: float
    rows: int = 0
    right: int = 0
    expected: float = 0.0

    @property
    def share(self) -> float | None:
        """Of its rows, those that are right."""
        return self.right / self.rows if self.rows else None

    @property
    def mean(self) -> float | None:
        """What was said, on average."""
        return self.expected / self.rows if self.rows else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """What the share may be, of independent rows, with 95 %."""
        if not self.rows:
            return None
        interval = of_share(self.right / self.rows, self.rows)
        return interval.low, interval.high

    def __add__(self, other: Bin) -> Bin:
        return Bin(
            self.low,
            self.high,
            self.rows + other.rows,
            self.right + other.right,
            self.expected + other.expected,
        )


@dataclass(frozen=True)
class Reliability:
    """The bins, from the least sure on."""

    bins: tuple[Bin, ...] = tuple(Bin(low, high) for low, high in pairwise(EDGES))

    @property
    def rows(self) -> int:
        """All rows of which something was said."""
        return sum(one.rows for one in self.bins)

    @property
    def error(self) -> float | None:
        """The expected calibration error; None without rows."""
        if not self.rows:
            return None
        apart = (abs(one.expected - one.right) for one in self.bins)
        return sum(apart) / self.rows

    @property
    def checked(self) -> Bin:
        """The bin of rows said with 0.9."""
        return next(one for one in self.bins if (one.low, one.high) == CHECKED)

    @property
    def reached(self) -> bool | None:
        """Whether the share of `checked` is within the target; None where its rows are too few to
        tell: it is not, and its interval meets the target.
        """
        share, interval = self.checked.share, self.checked.interval
        if share is None or interval is None:
            return None
        if TARGET[0] <= share <= TARGET[1]:
            return True
        return None if interval[0] <= TARGET[1] and TARGET[0] <= interval[1] else False

    def __add__(self, other: Reliability) -> Reliability:
        return Reliability(
            tuple(mine + yours for mine, yours in zip(self.bins, other.bins, strict=True))
        )


def judged(joined: Joined) -> pl.DataFrame:
    """Everything that was said, with `right`, `need_right` and `real`: whether it is so, null where
    the truth does not know.
    """
    claims = [
        name for name in joined.invented.columns if f"claimed_{name}" in joined.retransmissions
    ]
    claimed = joined.retransmissions.filter(~pl.col("missed")).select(
        *(pl.col(f"claimed_{name}").alias(name) for name in claims),
        pl.col("mechanism").alias("true_mechanism"),
        pl.col("need").alias("true_need"),
    )
    nothing = pl.lit(None, pl.String)
    invented = joined.invented.select(
        *claims, nothing.alias("true_mechanism"), nothing.alias("true_need")
    )
    known = pl.col("true_mechanism") != "unknown"
    words = pl.coalesce("pair", "mechanism").str.split("|")
    is_right = words.list.contains(pl.col("true_mechanism"))
    need_known = pl.col("true_need") != "unknown"
    return pl.concat([claimed, invented]).with_columns(
        pl.col("true_mechanism").is_not_null().alias("real"),
        _judged(known, is_right).alias("right"),
        _judged(need_known, pl.col("need") == pl.col("true_need")).alias("need_right"),
    )


def _judged(known: pl.Expr, is_right: pl.Expr) -> pl.Expr:
    """Null where the truth is `unknown`, wrong where there is none."""
    return pl.when(known.fill_null(value=True)).then(is_right.fill_null(value=False))


def measure(claims: pl.DataFrame) -> dict[str, Reliability]:
    """Of `judged` rows. A mechanism or a need that is `unknown` is no claim."""
    by_claim = {}
    for what, (sure, right) in WHAT.items():
        rows = claims.filter(pl.col(sure).is_not_null(), pl.col(right).is_not_null())
        if what in rows.columns:
            rows = rows.filter(pl.col(what) != "unknown")
        by_claim[what] = of_pairs(rows.select(sure, right).iter_rows())
    return by_claim


def of_pairs(pairs: Iterable[tuple[float, bool]]) -> Reliability:
    """Of (what was said, whether it is so)."""
    bins = list(Reliability().bins)
    for sure, is_right in pairs:
        place = next((i for i, high in enumerate(EDGES[1:]) if sure < high), len(bins) - 1)
        one = bins[place]
        bins[place] = Bin(
            one.low, one.high, one.rows + 1, one.right + bool(is_right), one.expected + sure
        )
    return Reliability(tuple(bins))


def total(several: Iterable[Mapping[str, Reliability]]) -> dict[str, Reliability]:
    """All of them together."""
    whole = {what: Reliability() for what in WHAT}
    for one in several:
        for what, reliability in one.items():
            whole[what] = whole[what] + reliability
    return whole
