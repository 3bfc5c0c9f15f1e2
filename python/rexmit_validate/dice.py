"""Random choices: what is drawn of one name does not depend on what is drawn of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeVar

from rexmit.campaign.streams import Streams

T = TypeVar("T")

_DRAWS: Final = 64
"""Numbers drawn ahead, at a time."""


class Dice:
    """Random choices of one named stream."""

    def __init__(self, streams: Streams, seed: int, name: str, index: int) -> None:
        self._streams, self._of = streams, (seed, name, index)
        self._drawn: list[float] = []
        self._used = 0

    def uniform(self) -> float:
        """From 0 up to, not including, 1."""
        if self._used == len(self._drawn):
            # A stream begins anew with every call: take more of it.
            self._drawn = self._streams.stream_uniform(*self._of, self._used + _DRAWS)
        self._used += 1
        return self._drawn[self._used - 1]

    def chance(self, share: float) -> bool:
        """True in this share of all cases."""
        return self.uniform() < share

    def whole(self, least: int, most: int) -> int:
        """A whole number, both ends included."""
        return least + int(self.uniform() * (most - least + 1))

    def between(self, least: float, most: float) -> float:
        """Uniform."""
        return least + self.uniform() * (most - least)

    def log_between(self, least: float, most: float) -> float:
        """Uniform on a logarithmic scale."""
        return least * math.exp(self.uniform() * math.log(most / least))

    def pick(self, weighted: Sequence[tuple[float, T]]) -> T:
        """One of several, by their weights."""
        at = self.uniform() * sum(weight for weight, _ in weighted)
        for weight, value in weighted:
            at -= weight
            if at < 0:
                return value
        return weighted[-1][1]
