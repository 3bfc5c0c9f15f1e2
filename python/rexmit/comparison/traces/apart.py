"""How far two sides are apart, and whether chance may have made it.

`named` decides over all that is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rexmit.statistics.interval import LEVEL, student, tails


@dataclass(frozen=True)
class Side:
    """What one side has: a mean, or a share of all, of `n` units. `error` is its standard error,
    with so many degrees of `freedom`; None where one unit shows none.
    """

    n: int
    value: float
    error: float | None
    freedom: float = math.inf


@dataclass(frozen=True)
class Apart:
    """B minus A, its 95 % interval, and how probable as large a difference is where nothing
    changed; None where an error is not known.
    """

    difference: float
    low: float | None
    high: float | None
    chance: float | None


def apart(a: Side, b: Side) -> Apart:
    """The difference of two independent sides (Welch 1947)."""
    difference = b.value - a.value
    if a.error is None or b.error is None:
        return Apart(difference, None, None, None)
    error = math.hypot(a.error, b.error)
    if error == 0:
        return Apart(difference, difference, difference, float(difference == 0))
    parts = sum(side.error**4 / side.freedom for side in (a, b) if side.error)
    freedom = error**4 / parts if parts else math.inf
    reach = student((1 + LEVEL) / 2, freedom) * error
    chance = tails(abs(difference) / error, freedom)
    return Apart(difference, difference - reach, difference + reach, chance)


def named(chances: Sequence[float | None], share: float = 1 - LEVEL) -> list[bool]:
    """Which differences are more than chance, so that `share` of these at most is expected to be
    none (Benjamini and Hochberg 1995).
    """
    known = sorted(chance for chance in chances if chance is not None)
    limits = ((rank + 1) / len(known) * share for rank in range(len(known)))
    most = max((c for c, limit in zip(known, limits, strict=True) if c <= limit), default=-1.0)
    return [chance is not None and chance <= most for chance in chances]
