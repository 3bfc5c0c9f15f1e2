"""How far off a mean may be: its interval."""

from __future__ import annotations

import math
from functools import cache

from rexmit.analysis.cells import Spread


def half_width(found: Spread, percent: float) -> float | None:
    """How far the interval of the mean reaches to both sides, by Student's distribution; None for a
    single value, of which nothing says how far off it is.
    """
    if found.n < 2 or found.sd_s is None:
        return None
    return _quantile(found.n - 1, percent) * found.sd_s / math.sqrt(found.n)


@cache
def _quantile(degrees: int, percent: float) -> float:
    """What Student's t stays below, in size, with this probability."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, degrees) < percent / 100 else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _within(angle: float, degrees: int) -> float:
    """The probability that |t| is below sqrt(degrees) tan(angle): Abramowitz and Stegun 26.7.3 and
    26.7.4.
    """
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = total = cosine if odd else 1.0
    if degrees == 1:
        total = 0.0
    for k in range(2 + odd, degrees - 1, 2):
        term *= (k - 1) / k * cosine * cosine
        total += term
        if term < 1e-17:
            break
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
