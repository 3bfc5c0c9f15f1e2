"""What UNC 2007 asks of traces: its tables and figures, of any captures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from rexmit.papers.claim import Claim
from rexmit.papers.unc_2007 import senders as made_of
from rexmit.papers.unc_2007.claims import claims as claimed
from rexmit.papers.unc_2007.figures import Planned, plan
from rexmit.papers.unc_2007.senders import Study
from rexmit.papers.unc_2007.tables import Tables
from rexmit.papers.unc_2007.tables import tables as counted
from rexmit.tracing.folder import Trace


@dataclass(frozen=True)
class UncStudy:
    """Traces as UNC 2007 counts them. `rexmit.figures` draws its figures."""

    study: Study

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What was studied."""
        return self.study.traces

    @property
    def senders(self) -> pl.DataFrame:
        """A row for each connection of all traces, with its sender: `trace` (a number),
        `connection`, `direction`, `system` (null: not explained), `lossy`, `retransmissions`, sizes
        in bytes, times in seconds, `sack`.
        """
        return self.study.senders

    @cached_property
    def tables(self) -> Tables:
        """Tables I to V, recovery times, and connections without loss."""
        return counted(self.study)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What the paper claims, each computed from these traces. `holds` is None where they cannot
        tell.
        """
        return claimed(self.study, self.tables)

    @cached_property
    def planned(self) -> tuple[Planned, list[str]]:
        """The figures that can be drawn, by name; for each that cannot a sentence that says why."""
        return plan(self.study, self.tables.recovery)

    @property
    def missing(self) -> tuple[str, ...]:
        """For each figure that cannot be drawn a sentence that says why."""
        return tuple(self.planned[1])


def study(traces: Sequence[Trace]) -> UncStudy:
    """The study of UNC 2007 of any traces, each of one network: `[rexmit.trace(file) for file in
    files]`. What other settings would have changed is known of traces that were replayed under
    them.
    """
    return UncStudy(made_of.study(traces))
