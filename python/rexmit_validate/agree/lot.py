"""Where a random case has its chance from."""

from __future__ import annotations

from dataclasses import dataclass

from rexmit.campaign.streams import Streams
from rexmit_validate.dice import Dice


@dataclass(frozen=True, slots=True)
class Lot:
    """Case `index` of `seed` among those of a `kind`: it has streams of its own, so that it is the
    same in any run.
    """

    streams: Streams
    seed: int
    index: int
    kind: str

    @property
    def name(self) -> str:
        """The case's."""
        return f"{self.seed}-{self.index}"

    @property
    def phase_seed(self) -> int:
        """The case's seed, as wide as a scenario's that every tool reads as a number."""
        return self.streams.stream_u64(self.seed, f"{self.kind} phase", self.index, 1)[0] >> 16

    def dice(self, name: str) -> Dice:
        """For one thing that is drawn."""
        return Dice(self.streams, self.seed, f"{self.kind} {name}", self.index)
