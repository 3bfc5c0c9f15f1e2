"""What UNC 2007 asks of traces: its tables and figures, of any captures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from rexmit.result.blocks import PAGE
from rexmit.tracing.folder import Trace
from rexmit.webpage import commands
from rexmit.webpage.part import Part, Section
from rexmit_papers.claim import Claim
from rexmit_papers.show_claims import claim_blocks
from rexmit_papers.unc_2007 import page
from rexmit_papers.unc_2007 import senders as made_of
from rexmit_papers.unc_2007.claims import SOURCE
from rexmit_papers.unc_2007.claims import claims as claimed_of
from rexmit_papers.unc_2007.figures import Planned, plan
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.show_study import study_blocks
from rexmit_papers.unc_2007.tables import Tables
from rexmit_papers.unc_2007.tables import tables as counted_of


@dataclass(frozen=True)
class UncStudy:
    """Traces as UNC 2007 counts them. `rexmit.paper_figures` draws its figures, and
    `rexmit.report` writes a page about it.
    """

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
        return counted_of(self.study)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What the paper claims, each computed from these traces. `verdict` is None where they have
        nothing to tell it by.
        """
        return claimed_of(self.study, self.tables)

    @cached_property
    def planned(self) -> tuple[Planned, list[str]]:
        """The figures that can be drawn, by name; for each that cannot a sentence that says why."""
        return plan(self.study, self.tables.recovery)

    def page_part(self, place: int) -> Part:  # noqa: ARG002 - parts of other kinds want it
        """What a page says of the study."""
        names = [name for trace in self.traces for name in commands.place(trace)]
        command = commands.command("paper", "unc-2007", *names)
        claimed = claim_blocks(self.claims, PAGE, SOURCE)
        return Part(
            kind="study",
            name=", ".join(names),
            names=names,
            sections=[
                Section("Tables", list(study_blocks(self.tables)), command),
                Section("Claims", list(claimed), f"{command} --claims"),
            ],
            figures=page.figures(self.planned[0], f"{command} --out study"),
            written_by=("paper", "unc-2007"),
        )

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
