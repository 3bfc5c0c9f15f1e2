"""`rexmit paper tlp-2013` and `mptcp-2017`: what papers print of a run's measurements."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rexmit import outputs
from rexmit.cli.as_json import print_result
from rexmit.cli.drawn import Formats, as_list, rule
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.run_tables import Inexact, RunTable, show_run
from rexmit.cli.trace_options import refuse
from rexmit.errors import UserError
from rexmit.options import typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rexmit.analysis.beside import Beside
    from rexmit.result.blocks import Block, Room
    from rexmit.store.open_run import Run
    from rexmit_papers.claim import Claim, Source

EXAMPLES_2013 = """\
Examples:

\b
  rexmit paper tlp-2013 runs/tlp-2013                    Table 4, five segments lost
  rexmit paper tlp-2013 runs/tlp-2013 --losses 10        with ten lost
  rexmit paper tlp-2013 runs/tlp-2013 --table1           what repairs the tail
  rexmit paper tlp-2013 runs/tlp-2013 --claims           what the paper claims, computed
  rexmit paper tlp-2013 runs/model runs/6.12 --claims    runs and the paper in one table
  rexmit paper tlp-2013 runs/tlp-2013 --out figures      Figures 4 and 5
"""

EXAMPLES_2017 = """\
Examples:

\b
  rexmit paper mptcp-2017 runs/mptcp-2017 --claims       completion times and claims
  rexmit paper mptcp-2017 runs/4.1 runs/6.12             the claims of two runs
  rexmit paper mptcp-2017 runs/mptcp-2017 --out figures  Figures 2 to 6
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What is asked of any paper about runs."""

    runs: Annotated[
        list[Path],
        Argument(
            metavar="RUN...",
            help="Folders that `rexmit run` wrote; several stand side by side.",
            show_default=False,
        ),
    ]
    claims: Annotated[
        bool,
        Option("--claims", help="The paper's claims, whether each holds and by how much."),
    ] = False
    inexact: Inexact = False
    out: Annotated[
        Path | None,
        Option(
            "--out",
            metavar="DIR",
            help="Draw the paper's figures of a run into DIR.",
            show_default=False,
        ),
    ] = None
    formats: Formats = "pdf,png"
    html: Html = None
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False

    def __post_init__(self) -> None:
        refuse(iter([rule(self.formats)]))
        if self.out is not None and len(self.runs) > 1:
            raise UserError("--out draws figures of one run", "name one run", usage=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlpOptions(RunOptions):
    """What is asked of Ryll 2013."""

    losses: Annotated[
        int | None,
        Option(
            "--losses",
            metavar="N",
            min=0,
            help="Only transfers with N lost segments. [default: Table 4: 5, as in the paper, or "
            "the most there are; Table 1: all]",
            show_default=False,
        ),
    ] = None
    table4: Annotated[
        bool,
        Option(
            "--table4",
            help="Times and what the configurations gain (the default); where the run has many "
            "settings, each in full.",
        ),
    ] = False
    table1: Annotated[
        bool, Option("--table1", help="Which mechanism repairs the tail after the probe.")
    ] = False
    departing: Annotated[
        bool,
        Option(
            "--departing",
            help="Claims of what has the names of the paper's networks, though its rates, delays, "
            "window or page are others; what departs is printed.",
        ),
    ] = False

    def __post_init__(self) -> None:
        super(TlpOptions, self).__post_init__()
        if self.departing and not self.claims:
            raise UserError("--departing is about claims", "add --claims", usage=True)


@typed(TlpOptions)
def tlp_2013(options: TlpOptions) -> None:
    """Tables and claims of Ryll 2013 of a run, or of several side by side.

    Table 4 has the means of t_total (head sent to last lost data sent again) and t_recover (first
    drop to first retransmission), their standard deviations, what each configuration gains over
    `er`, and the paper's figures with the difference. With --out, Figures 4 and 5a to 5c with the
    paper's means as open marks, and the same of every other network.
    """
    if len(options.runs) > 1 and options.table1:
        raise UserError("--table1 is of one run", "name one run", usage=True)

    from rexmit_papers.library.tables import table4_beside
    from rexmit_papers.ryll_2013.claims import SOURCE

    runs = _opened(options.runs)
    if len(runs) == 1:
        show_run(runs[0], _tlp_tables(runs[0], options), as_json=options.as_json)
    else:
        table = table4_beside(runs, losses=options.losses, inexact=options.inexact)
        judged = _judged(runs, options, departing=options.departing)
        _show_beside(runs, options, SOURCE, judged, table)
    _finish(runs, options, options.losses)


def _tlp_tables(run: Run, options: TlpOptions) -> Iterator[RunTable]:
    from rexmit_papers.library import tables
    from rexmit_papers.ryll_2013.claims import SOURCE
    from rexmit_papers.ryll_2013.show_table1 import table1_blocks
    from rexmit_papers.ryll_2013.show_table4 import table4_blocks
    from rexmit_papers.ryll_2013.table1 import table1_data
    from rexmit_papers.ryll_2013.table4 import table4_data

    if options.table4 or not (options.table1 or options.claims):
        four = tables.table4(run, losses=options.losses, inexact=options.inexact)
        yield RunTable(
            "table4",
            lambda: table4_data(four),
            lambda room: table4_blocks(four, room, in_full=options.table4),
        )
    if options.table1:
        one = tables.table1(run, losses=options.losses, inexact=options.inexact)
        yield RunTable("table1", lambda: table1_data(one), lambda room: table1_blocks(one, room))
    if options.claims:
        yield _claims(run, options, SOURCE, departing=options.departing)


@typed(RunOptions)
def mptcp_2017(options: RunOptions) -> None:
    """Completion times of a run with bursts by the cases of Probe or Wait 2017, or the claims of
    several runs side by side.

    The figures are 2, 4 and 6, completion times as bars with the authors' own across them, and of a
    run that kept captures the timing diagrams 3 and 5, as ladders of both paths.
    """
    from rexmit_papers.probe_or_wait_2017.claims import SOURCE

    runs = _opened(options.runs)
    if len(runs) == 1:
        show_run(runs[0], _burst_tables(runs[0], options), as_json=options.as_json)
    else:
        _show_beside(runs, options, SOURCE, _judged(runs, options))
    _finish(runs, options, None)


def _burst_tables(run: Run, options: RunOptions) -> Iterator[RunTable]:
    from rexmit.analysis.bursts_as_json import cases_data
    from rexmit.library.tables import bursts
    from rexmit.present.bursts import case_blocks
    from rexmit_papers.probe_or_wait_2017.claims import SOURCE
    from rexmit_papers.probe_or_wait_2017.paper import LOSSES

    cases = bursts(run, inexact=options.inexact)
    yield RunTable(
        "bursts",
        lambda: cases_data(cases),
        lambda _: case_blocks(cases, LOSSES),
    )
    if options.claims:
        yield _claims(run, options, SOURCE)


def _claims(run: Run, options: RunOptions, source: Source, *, departing: bool = False) -> RunTable:
    from rexmit_papers.claim import claims_data
    from rexmit_papers.library.tables import claims
    from rexmit_papers.ryll_2013.claims import departs
    from rexmit_papers.show_claims import claim_blocks

    judged = claims(run, inexact=options.inexact, departing=departing)
    other = departs(run) if departing else ()
    return RunTable(
        "claims",
        lambda: claims_data(judged),
        lambda room: claim_blocks(judged, room, source, other),
    )


def _judged(
    runs: Sequence[Run], options: RunOptions, *, departing: bool = False
) -> Callable[[], list[tuple[Claim, ...]]]:
    from rexmit_papers.library.tables import claims

    return lambda: [claims(run, inexact=options.inexact, departing=departing) for run in runs]


def _show_beside(
    runs: Sequence[Run],
    options: RunOptions,
    source: Source,
    judged: Callable[[], list[tuple[Claim, ...]]],
    table: Beside | None = None,
) -> None:
    """Their table, if there is one, and the claims of each, if asked for or all there is."""
    from rexmit_papers.claim import claims_data
    from rexmit_papers.ryll_2013.beside import beside_data, table4_blocks_beside
    from rexmit_papers.show_claims import claim_blocks_beside

    by_run = judged() if options.claims or table is None else []

    def data() -> dict[str, Any]:
        bare: dict[str, Any] = {"runs": [{"path": str(run.path)} for run in runs]}
        described = bare if table is None else beside_data(table)
        for entry, one in zip(described["runs"], by_run, strict=False):
            entry["claims"] = claims_data(one)
        return described

    def blocks(_: Room) -> Iterator[Block]:
        if table is not None:
            yield from table4_blocks_beside(table)
        if by_run:
            yield from claim_blocks_beside(by_run, runs, source)

    print_result(data, blocks, as_json=options.as_json)


def _opened(paths: Sequence[Path]) -> list[Run]:
    from rexmit.library.opened import open_run

    return [open_run(path) for path in paths]


def _finish(runs: Sequence[Run], options: RunOptions, losses: int | None) -> None:
    """Figures and a page, where they are asked for."""
    if options.out is not None:
        from rexmit.library.figures import save_figures
        from rexmit_papers.library.figures import paper_figures

        drawn = paper_figures(runs[0], losses=losses, inexact=options.inexact)
        for path in save_figures(drawn, options.out, formats=as_list(options.formats)):
            outputs.line(path, err=options.as_json)
    if options.html is not None:
        from rexmit_papers.library.page import paper_page

        write_page([paper_page(run) for run in runs], options.html, as_json=options.as_json)
