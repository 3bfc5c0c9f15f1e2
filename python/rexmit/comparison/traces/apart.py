"""How far two sides are apart, and whether chance may have made it.

`apart` is the one place where an interval is computed; `named` decides over all that is compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

CONFIDENCE: Final = 0.95

_STEPS: Final = 128
"""Of the integral; even."""

_NORMAL: Final = 200.0
"""From so many degrees of freedom on Student's distribution counts as the normal one."""


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
    reach = _reach(freedom) * error
    chance = _beyond(abs(difference) / error, freedom)
    return Apart(difference, difference - reach, difference + reach, chance)


def named(chances: Sequence[float | None], share: float = 1 - CONFIDENCE) -> list[bool]:
    """Which differences are more than chance, so that `share` of these at most is expected to be
    none (Benjamini and Hochberg 1995).
    """
    known = sorted(chance for chance in chances if chance is not None)
    limits = ((rank + 1) / len(known) * share for rank in range(len(known)))
    most = max((c for c, limit in zip(known, limits, strict=True) if c <= limit), default=-1.0)
    return [chance is not None and chance <= most for chance in chances]


def _beyond(errors: float, freedom: float) -> float:
    """The two-sided tail of Student's distribution, by the angle whose tangent it is."""
    if freedom > _NORMAL:
        return math.erfc(errors / math.sqrt(2))
    logarithm = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    factor = 2 * math.exp(logarithm) / math.sqrt(math.pi)
    start = math.atan(errors / math.sqrt(freedom))
    step = (math.pi / 2 - start) / _STEPS
    cosines = (max(0.0, math.cos(start + place * step)) for place in range(_STEPS + 1))
    heights = [math.pow(cosine, freedom - 1) for cosine in cosines]
    # Simpson's rule.
    weighed = heights[0] + heights[-1] + 4 * sum(heights[1::2]) + 2 * sum(heights[2:-1:2])
    return factor * weighed * step / 3


def _reach(freedom: float) -> float:
    """So many standard errors the interval reaches to either side."""
    low, high = 0.0, 1e4
    while high - low > 1e-5 * high:
        middle = (low + high) / 2
        if _beyond(middle, freedom) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high
