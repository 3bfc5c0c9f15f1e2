"""`rexmit show RUN`: a run's tables beside the paper's, or one of its transfers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.limits import UnpackLimit
from rexmit.errors import UserError
from rexmit.options import typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from rexmit.library.flow import AnyFlow
    from rexmit.store.open_run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What can be typed, in the order in which `--help` has it."""

    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folder that `rexmit run` wrote; several: Table 4 (and --claims) side by side. "
            "Or one of `rexmit trace`, or a capture: a connection, packet by packet.",
            show_default=False,
        ),
    ]
    losses: Annotated[
        int | None,
        typer.Option(
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
        typer.Option(
            "--table4",
            help="Times and what the configurations gain (the default); where the run has many "
            "settings, each in full.",
        ),
    ] = False
    table1: Annotated[
        bool, typer.Option("--table1", help="Which mechanism repairs the tail after the probe.")
    ] = False
    claims: Annotated[
        bool,
        typer.Option("--claims", help="The paper's claims, whether each holds and by how much."),
    ] = False
    flow: Annotated[
        str | None,
        typer.Option(
            "--flow",
            metavar="K",
            help="One transfer, packet by packet: row K of transfers.parquet, from 0 (a run with "
            "--capture). Of a trace or a capture: row K of connections.parquet, or 'A:PORT > "
            "B:PORT', either way round. [default, of a trace: the one that waited longest]",
            show_default=False,
        ),
    ] = None
    at: Annotated[
        float | None,
        typer.Option(
            "--at",
            metavar="SECONDS",
            help="With --flow of a trace: every packet around this time of the capture's clock.",
            show_default=False,
        ),
    ] = None
    figure: Annotated[
        list[Path] | None,
        typer.Option(
            "--figure",
            metavar="FILE",
            help="With --flow: draw data, acknowledgements and retransmissions over time into "
            "this .pdf, .png or .svg. Repeatable.",
            show_default=False,
        ),
    ] = None
    ladder: Annotated[
        bool,
        typer.Option(
            "--ladder",
            help="With --figure, of a run: draw a ladder, client left and server right.",
        ),
    ] = False
    every_packet: Annotated[
        bool, typer.Option("--all", help="With --flow: every packet, the uneventful ones too.")
    ] = False
    inexact: Annotated[
        bool,
        typer.Option(
            "--inexact", help="Take in transfers that lost other segments than those asked for."
        ),
    ] = False
    unpack_limit: UnpackLimit = None
    html: Html = None
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False


@typed(ShowOptions)
def show(options: ShowOptions) -> None:
    """Print the tables of a run, or of several side by side, beside those of Ryll 2013.

    Table 4 has the means of t_total (head sent to last lost data sent again) and t_recover (first
    drop to first retransmission), their standard deviations, what each configuration gains over
    `er`, and the paper's figures with the difference.

    \b
    Examples:
      rexmit show runs/tlp-2013                        Table 4, five segments lost
      rexmit show runs/tlp-2013 --losses 10            with ten lost
      rexmit show runs/tlp-2013 --table1               what repairs the tail
      rexmit show runs/tlp-2013 --table1 --losses 3    of those with three lost
      rexmit show runs/tlp-2013 --claims               what the paper claims, computed
      rexmit show runs/model runs/6.1 runs/6.12        these and the paper in one table
      rexmit show runs/tlp-2013 --flow 3 --all         one transfer as a ladder
      rexmit show runs/tlp --flow 0 --figure tlp.png --ladder    drawn, as in a talk
      rexmit show traced                               of `rexmit trace --out traced`: the worst
      rexmit show traced --flow 17 --figure 17.pdf     another connection of it
      rexmit show x.pcap --flow '10.0.0.1:80 > 10.0.0.2:40000' --at 1700000012.5
    """
    asked = _Asked(options.losses, options.table4, options.table1, options.claims, options.inexact)
    if options.flow is not None and asked != _NOTHING:
        raise UserError(
            "--flow shows one transfer; --table1, --table4, --claims, --losses and --inexact show "
            "tables",
            "leave one of them out",
            usage=True,
        )
    traced = len(options.runs) == 1 and _is_traced(options.runs[0])
    if traced and asked != _NOTHING:
        raise UserError(
            f"{options.runs[0]}: a trace has no --table1, --table4, --claims, --losses "
            "and --inexact",
            "its page: rexmit trace; one connection: rexmit show --flow K",
            usage=True,
        )
    if options.every_packet and options.flow is None and not traced:
        raise UserError("--all belongs to --flow", "say which transfer: --flow K", usage=True)
    if (options.figure or options.at is not None) and options.flow is None and not traced:
        raise UserError("--figure and --at belong to --flow", "say which: --flow K", usage=True)
    if options.ladder and not options.figure:
        raise UserError("--ladder belongs to --figure", "name a file: --figure FILE", usage=True)
    wrong = [
        path for path in options.figure or () if path.suffix.lower() not in (".pdf", ".png", ".svg")
    ]
    if wrong:
        raise UserError(
            f"--figure {wrong[0]}: no format ends so", "name a .pdf, .png or .svg", usage=True
        )
    if len(options.runs) > 1 and (options.flow is not None or options.table1):
        raise UserError(
            "several runs are shown by Table 4 and --claims only",
            "name one run for --table1 and --flow",
            usage=True,
        )
    if options.html is not None and (traced or options.flow is not None):
        raise UserError(
            "--html is about runs as a whole",
            "of a trace, or one connection: rexmit report, with --connections K",
            usage=True,
        )
    flow = _Flow(
        options.flow or "",
        options.every_packet,
        options.at,
        tuple(options.figure or ()),
        options.ladder,
        options.as_json,
    )
    if traced:
        _show_traced(options.runs[0], flow)
    elif options.flow is not None:
        _show_flow(options.runs[0], flow)
    elif len(options.runs) > 1:
        _show_beside(options.runs, asked, as_json=options.as_json)
    else:
        _show_tables(options.runs[0], asked, as_json=options.as_json)
    if options.html is not None:
        from rexmit.library.opened import open_run

        write_page([open_run(path) for path in options.runs], options.html, as_json=options.as_json)


def _is_traced(path: Path) -> bool:
    """Whether it is a capture, or the folder of a trace."""
    from rexmit.tracing.folder import is_trace

    return path.is_file() or is_trace(path)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which tables, over which transfers."""

    losses: int | None
    table4: bool
    table1: bool
    claims: bool
    inexact: bool


_NOTHING: Final = _Asked(None, table4=False, table1=False, claims=False, inexact=False)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a run's page: what it is in JSON, by which name, and how it is printed."""

    name: str
    data: Callable[[], Any]
    show: Callable[[Console], None]


def _show_tables(path: Path, asked: _Asked, *, as_json: bool) -> None:
    from rexmit.analysis.overview import overview_data
    from rexmit.library.opened import open_run
    from rexmit.library.tables import overview
    from rexmit.present.print_overview import print_command, print_overview
    from rexmit.present.terminal import console

    run = open_run(path)
    view = overview(run)
    parts = list(_parts(run, asked))
    if as_json:
        print_json({"run": overview_data(view), **{part.name: part.data() for part in parts}})
        return
    out = console()
    print_overview(view, out)
    for part in parts:
        out.print()
        part.show(out)
    print_command(view, out)


def _parts(run: Run, asked: _Asked) -> Iterator[_Part]:
    from rexmit.analysis.bursts import has_bursts
    from rexmit.analysis.bursts_as_json import cases_data
    from rexmit.library import tables
    from rexmit.papers.claim import claims_data
    from rexmit.papers.print_claims import print_claims
    from rexmit.papers.probe_or_wait_2017.paper import LOSSES
    from rexmit.papers.ryll_2013.as_json import table1_data, table4_data
    from rexmit.papers.ryll_2013.print_table1 import print_table1
    from rexmit.papers.ryll_2013.print_table4 import print_table4
    from rexmit.present.print_bursts import print_cases

    losses, inexact, with_bursts = asked.losses, asked.inexact, has_bursts(run)
    if with_bursts and not (asked.table1 or asked.table4 or losses is not None):
        cases = tables.bursts(run, inexact=inexact)
        yield _Part(
            "bursts", lambda: cases_data(cases), lambda out: print_cases(cases, out, LOSSES)
        )
    elif asked.table4 or with_bursts or not (asked.table1 or asked.claims):
        four = tables.table4(run, losses=losses, inexact=inexact)
        yield _Part(
            "table4",
            lambda: table4_data(four),
            lambda out: print_table4(four, out, in_full=asked.table4),
        )
    if asked.table1:
        one = tables.table1(run, losses=losses, inexact=inexact)
        yield _Part("table1", lambda: table1_data(one), lambda out: print_table1(one, out))
    if asked.claims:
        claims, source = tables.claims(run, inexact=inexact), tables.source(run)
        yield _Part(
            "claims", lambda: claims_data(claims), lambda out: print_claims(claims, out, source)
        )


def _show_beside(paths: list[Path], asked: _Asked, *, as_json: bool) -> None:
    from rexmit.analysis.bursts import has_bursts
    from rexmit.library import tables
    from rexmit.library.opened import open_run
    from rexmit.papers.claim import claims_data
    from rexmit.papers.print_claims import print_claims_beside
    from rexmit.papers.ryll_2013.as_json import beside_data
    from rexmit.papers.ryll_2013.print_beside import print_beside
    from rexmit.present.terminal import console

    opened = [open_run(path) for path in paths]
    if all(map(has_bursts, opened)):
        _show_bursts_beside(opened, asked, as_json=as_json)
        return
    table = tables.beside(opened, losses=asked.losses, inexact=asked.inexact)
    claims = [tables.claims(run, inexact=asked.inexact) for run in opened if asked.claims]
    if as_json:
        data: dict[str, Any] = beside_data(table)
        for entry, found in zip(data["runs"], claims, strict=False):
            entry["claims"] = claims_data(found)
        print_json(data)
        return
    out = console()
    print_beside(table, out)
    if claims:
        beside = [(ran, run.path) for ran, run in zip(table.runners, table.runs, strict=True)]
        print_claims_beside(claims, beside, out, tables.source(opened[0]))


def _show_bursts_beside(opened: list[Run], asked: _Asked, *, as_json: bool) -> None:
    from rexmit.analysis.runner import runner
    from rexmit.library import tables
    from rexmit.papers.claim import claims_data
    from rexmit.papers.print_claims import print_claims_beside
    from rexmit.present.terminal import console

    claims = [tables.claims(run, inexact=asked.inexact) for run in opened]
    if as_json:
        runs = [
            {"path": str(run.path), "claims": claims_data(found)}
            for run, found in zip(opened, claims, strict=True)
        ]
        print_json({"runs": runs})
        return
    source = tables.source(opened[0])
    beside = [(runner(run.meta), run.path) for run in opened]
    print_claims_beside(claims, beside, console(), source)


@dataclass(frozen=True, slots=True)
class _Flow:
    """Which connection, and how much of it; of a trace '' is the one with most trouble."""

    which: str
    every_packet: bool
    at: float | None
    figures: tuple[Path, ...]
    ladder: bool
    as_json: bool


def _show_flow(path: Path, asked: _Flow) -> None:
    from rexmit.ladder.paths import PathFlow
    from rexmit.ladder.print_paths import path_flow_data, print_path_flow
    from rexmit.ladder.render import flow_data, print_flow
    from rexmit.library.flow import of_run
    from rexmit.library.opened import open_run
    from rexmit.present.terminal import console

    opened = of_run(open_run(path), asked.which, asked.at)
    if asked.as_json:
        print_json(path_flow_data(opened) if isinstance(opened, PathFlow) else flow_data(opened))
    elif isinstance(opened, PathFlow):
        print_path_flow(opened, console(), every_packet=asked.every_packet)
    else:
        print_flow(opened, console(), every_packet=asked.every_packet)
    _draw(opened, asked)


def _show_traced(path: Path, asked: _Flow) -> None:
    from rexmit.ladder.print_traced import print_traced, traced_data
    from rexmit.library.flow import of_trace
    from rexmit.library.trace import trace
    from rexmit.present.terminal import console, say
    from rexmit.tracing.changed import line as changes

    made = trace(path, whatif=())
    opened, told = of_trace(made, asked.which or None, asked.at)
    if asked.as_json:
        print_json({**traced_data(opened), "changed": [asdict(one) for one in made.changed]})
    else:
        for line in changes(made.changed):
            say(console(), f"warning: {line}")
        if told:
            say(console(), told)
        print_traced(opened, console(), every_packet=asked.every_packet, at_s=asked.at)
    _draw(opened, asked)


def _draw(opened: AnyFlow, asked: _Flow) -> None:
    if asked.figures:
        from rexmit.library.flow import draw_flow
        from rexmit.present.figures.save import save

        for path in save(draw_flow(opened, at=asked.at, as_ladder=asked.ladder), asked.figures):
            outputs.line(path, err=asked.as_json)
