"""What came out of a live analysis so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from rexmit.tracing.always.tally import Tally
from rexmit.tracing.source import Batch

_FLOWS: Final = 4_096
"""Flows whose waiting is remembered; of more the least are forgotten."""


@dataclass
class Seen:
    """Counts (`tally`), seconds since the start, and how long each flow waited for its
    retransmissions, in seconds. Rows come out when their connection ends or has settled, so they
    follow the packets.
    """

    interface: str
    tally: Tally = field(default_factory=Tally)
    lasted_s: float = 0.0
    waited_s: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    ending: bool = False

    def came_out(self, batch: Batch) -> None:
        """Rows that came out."""
        self.tally.came_out(batch)
        rows = batch["retransmissions"].group_by("flow")
        for flow, waited_s, number in rows.agg(pl.col("waited_s").sum(), pl.len()).iter_rows():
            # Counter takes any number.
            self.waited_s[flow] += waited_s
            self.again[flow] += number
        if len(self.waited_s) > 2 * _FLOWS:
            self.waited_s = Counter(dict(self.waited_s.most_common(_FLOWS)))
            self.again = Counter({flow: self.again[flow] for flow in self.waited_s})
