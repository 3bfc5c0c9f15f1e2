"""Counting: confusion matrices, accuracy, precision and recall of claims about known
retransmissions.

A retransmission that was not claimed at all counts as wrong, and so does `unknown`. A claim without
a retransmission counts against the precision of the class that it names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit_validate.score.join import Joined

MECHANISMS: Final = (
    "rto",
    "rto-recovery",
    "tlp",
    "fast-retransmit",
    "early-retransmit",
    "fack",
    "sack-recovery",
    "rack",
    "mptcp-reinject",
    "unknown",
)
"""The vocabulary of the design, timers first."""

NEEDS: Final = ("needed", "spurious", "unknown")

MISSED: Final = "missed"
INVENTED: Final = "invented"


@dataclass(frozen=True)
class OfClass:
    """Precision and recall of one class; None where nothing was claimed, or nothing is there."""

    name: str
    there: int
    claimed: int
    right: int

    @property
    def precision(self) -> float | None:
        """The share of its claims that are right."""
        return self.right / self.claimed if self.claimed else None

    @property
    def recall(self) -> float | None:
        """The share of its retransmissions that are found as such."""
        return self.right / self.there if self.there else None


@dataclass(frozen=True)
class Matrix:
    """Counts of (truth, claim). The truth `invented` stands for no retransmission, the claim
    `missed` for no claim.
    """

    counts: Mapping[tuple[str, str], int]
    order: tuple[str, ...]

    @property
    def retransmissions(self) -> int:
        """How many there are in truth."""
        return sum(n for (truth, _), n in self.counts.items() if truth != INVENTED)

    @property
    def right(self) -> int:
        """How many of them are claimed rightly."""
        return sum(n for (truth, claim), n in self.counts.items() if is_right(truth, claim))

    @property
    def missed(self) -> int:
        """How many have no claim."""
        return sum(n for (_, claim), n in self.counts.items() if claim == MISSED)

    @property
    def invented(self) -> int:
        """How many claims have no retransmission."""
        return sum(n for (truth, _), n in self.counts.items() if truth == INVENTED)

    @property
    def accuracy(self) -> float | None:
        """Right ones among all retransmissions; None without any."""
        return self.right / self.retransmissions if self.retransmissions else None

    def share(self, which: Callable[[str], bool]) -> float | None:
        """Retransmissions of which such a claim is made, among all; None without any."""
        named = sum(
            n for (truth, claim), n in self.counts.items() if truth != INVENTED and which(claim)
        )
        return named / self.retransmissions if self.retransmissions else None

    @property
    def rows(self) -> tuple[str, ...]:
        """The truths that there are, in order; `invented` last."""
        return _ordered({truth for truth, _ in self.counts}, (*self.order, INVENTED))

    @property
    def columns(self) -> tuple[str, ...]:
        """The claims that there are, in order; pairs behind their first, `missed` last."""
        claims = {claim for _, claim in self.counts}
        pairs = sorted(claim for claim in claims if "|" in claim)
        order = [
            claim
            for word in (*self.order, MISSED)
            for claim in (word, *(pair for pair in pairs if pair.startswith(f"{word}|")))
        ]
        return _ordered(claims, order)

    def classes(self) -> tuple[OfClass, ...]:
        """Precision and recall of every class that is there or claimed, except `unknown`."""
        there: Counter[str] = Counter()
        claimed: Counter[str] = Counter()
        right: Counter[str] = Counter()
        for (truth, claim), n in self.counts.items():
            there[truth] += n
            # A pair is a claim of what the truth is of the two, and of its first elsewhere.
            claimed[truth if is_right(truth, claim) else claim.split("|")[0]] += n
            if is_right(truth, claim):
                right[truth] += n
        return tuple(
            OfClass(name, there[name], claimed[name], right[name])
            for name in self.order
            if name != "unknown" and (there[name] or claimed[name])
        )

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(Counter(self.counts) + Counter(other.counts), self.order)


def is_right(truth: str, claim: str) -> bool:
    """Whether the claim is the truth; a pair is right for either."""
    return truth in claim.split("|") and claim != "unknown"


def mechanisms(joined: Joined) -> Matrix:
    """The matrix of mechanisms. A retransmission whose truth is `unknown` is left out."""
    known = Joined(joined.retransmissions.filter(pl.col("mechanism") != "unknown"), joined.invented)
    return _matrix(known, claimed_mechanism(), "mechanism", MECHANISMS)


def needs(joined: Joined) -> Matrix:
    """The matrix of needs. A retransmission whose truth is `unknown` is left out."""
    known = Joined(joined.retransmissions.filter(pl.col("need") != "unknown"), joined.invented)
    claim = pl.when("missed").then(pl.lit(MISSED)).otherwise(_or_unknown("claimed_need"))
    return _matrix(known, claim, "need", NEEDS)


def claimed_mechanism() -> pl.Expr:
    """A joined retransmission's claim as a word: `missed`, a pair, a mechanism, `unknown`."""
    return (
        pl.when("missed")
        .then(pl.lit(MISSED))
        .otherwise(pl.coalesce("claimed_pair", _or_unknown("claimed_mechanism")))
    )


def _or_unknown(column: str) -> pl.Expr:
    return pl.col(column).fill_null("unknown")


def _matrix(joined: Joined, claim: pl.Expr, what: str, order: Sequence[str]) -> Matrix:
    counts: Counter[tuple[str, str]] = Counter()
    pairs = joined.retransmissions.select(pl.col(what).alias("truth"), claim.alias("claim"))
    for truth, claimed, n in pairs.group_by("truth", "claim").len().iter_rows():
        counts[truth, claimed] += n
    for claimed, n in (
        joined.invented.select(_or_unknown(what).alias("claim")).group_by("claim").len().iter_rows()
    ):
        counts[INVENTED, claimed] += n
    return Matrix(counts, tuple(order))


def _ordered(words: set[str], order: Iterable[str]) -> tuple[str, ...]:
    known = [word for word in order if word in words]
    return (*known, *sorted(words - set(known)))
