"""A page about a run as its paper has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from rexmit.analysis.bursts import cases, has_bursts
from rexmit.errors import UserError
from rexmit.present.bursts import case_blocks
from rexmit.result.blocks import PAGE, Block, Paragraph
from rexmit.store.open_run import Run
from rexmit.webpage import commands, of_run
from rexmit.webpage.choose import PACKETS
from rexmit.webpage.figures import of_bursts, of_times
from rexmit.webpage.part import Figure, Part, Section
from rexmit_papers.library.tables import claims, table1, table4
from rexmit_papers.probe_or_wait_2017 import figures as figures_of_2017
from rexmit_papers.probe_or_wait_2017.claims import SOURCE as SOURCE_2017
from rexmit_papers.probe_or_wait_2017.paper import LOSSES
from rexmit_papers.ryll_2013 import figures as figures_of_2013
from rexmit_papers.ryll_2013.claims import SOURCE as SOURCE_2013
from rexmit_papers.ryll_2013.show_table1 import table1_blocks
from rexmit_papers.ryll_2013.show_table4 import table4_blocks
from rexmit_papers.show_claims import claim_blocks


@dataclass(frozen=True)
class PaperPage:
    """What `rexmit.report` writes a page about: a run with the paper's tables, claims and marks."""

    run: Run

    @property
    def command(self) -> tuple[str, ...]:
        """What prints the paper's tables of it."""
        return ("paper", "mptcp-2017" if has_bursts(self.run) else "tlp-2013")

    def page_part(self, place: int) -> Part:  # noqa: ARG002 - parts of other kinds want it
        """The part of a run, with the paper's tables in place of the run's own."""
        part = of_run.part(self.run, transfers=None, limit=PACKETS)
        overview = [one for one in part.sections if one.title == "Overview"]
        return replace(
            part,
            sections=[*overview, *self._sections()],
            figures=self._figures(),
            written_by=self.command,
        )

    def _sections(self) -> Iterator[Section]:
        run = self.run
        if has_bursts(run):
            blocks = list(case_blocks(cases(run), LOSSES))
            yield Section("Completion times", blocks, self._typed())
            source = SOURCE_2017
        else:
            blocks = list(table4_blocks(table4(run), PAGE, in_full=True))
            yield Section("Table 4", blocks, self._typed("--table4"))
            # A run without losses, or without the configuration that the table is about.
            blocks = _or_why(lambda: table1_blocks(table1(run), PAGE))
            yield Section("Table 1", blocks, self._typed("--table1"))
            source = SOURCE_2013
        # A run of somebody's own, about which the paper says nothing.
        blocks = _or_why(lambda: claim_blocks(claims(run), PAGE, source))
        yield Section("Claims", blocks, self._typed("--claims"))

    def _figures(self) -> list[Figure]:
        command = self._typed("--out", "figures")
        if has_bursts(self.run):
            burst_cases = cases(self.run)
            return list(
                of_bursts(burst_cases, figures_of_2017.plan(self.run, burst_cases), command)
            )
        figures = []
        for planned in figures_of_2013.plan(self.run):
            number = figures_of_2013.number_of(planned)
            for figure in of_times(planned, command):
                title = f"Figure {number} of the paper: {figure.title}" if number else figure.title
                figures.append(replace(figure, title=title))
        return figures

    def _typed(self, *words: str) -> str:
        return commands.command(*self.command, self.run.path, *words)


def _or_why(blocks: Callable[[], Iterable[Block]]) -> list[Block]:
    """What is said, or why there is nothing to say."""
    try:
        return list(blocks())
    except UserError as error:
        return [Paragraph(error.what)]


def paper_page(run: Run) -> PaperPage:
    """A run as Ryll 2013 has it, or as Probe or Wait 2017 where it has bursts, for
    `rexmit.report`.
    """
    return PaperPage(run)
