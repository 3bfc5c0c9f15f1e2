"""Times of points by the first point's clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rexmit import _core


def aligned(clock: Sequence[Any], times: Sequence[int]) -> list[int]:
    """Nanoseconds of a point's clock by the first point's; `clock` as trace.json has it."""
    steps = [(base, [tuple(one) for one in stretches]) for base, stretches in clock]
    return _core.aligned(steps, times)
