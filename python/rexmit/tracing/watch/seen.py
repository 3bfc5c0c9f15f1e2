"""What came out of an analysis so far that may have no end."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from rexmit.tracing.inputs import Read
from rexmit.tracing.source import Batch, Core
from rexmit.tracing.watch.tally import Tally

_FLOWS: Final = 4_096
"""Flows whose waiting is remembered; of more the least are forgotten."""


@dataclass
class Seen:
    """Counts (`tally`), seconds since the start, and how long each flow waited for its
    retransmissions, in seconds. Rows come out when their connection ends or has settled, so they
    follow the packets.
    """

    name: str
    tally: Tally = field(default_factory=Tally)
    began: float = field(default_factory=time.monotonic)
    lasted_s: float = 0.0
    waited_s: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)
    ending: bool = False

    def look(self, read: Read[Core], batch: Batch) -> None:
        """What is there to see after some rows, or none, came out."""
        if batch:
            self.came_out(batch)
        self.tally.read(read.stream.so_far())
        self.lasted_s = time.monotonic() - self.began
        self.ending = read.first.at is not None

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
