"""`rexmit show RUN`: a run's tables, several runs in one table, or one transfer."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from rexmit import outputs
from rexmit.cli.as_json import print_result
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.limits import UnpackLimit
from rexmit.cli.run_tables import Inexact, RunTable, show_run
from rexmit.errors import UserError
from rexmit.options import typed
from rexmit.present.figures.formats import ending, is_drawable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rexmit.library.flow import AnyFlow
    from rexmit.result.blocks import Block, Room
    from rexmit.store.open_run import Run
    from rexmit.tracing.folder import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What can be typed, in the order in which `--help` has it."""

    runs: Annotated[
        list[Path],
        Argument(
            metavar="RUN...",
            help="Folder that `rexmit run` wrote; several: their times side by side. "
            "Or one of `rexmit trace`, or a capture: a connection, packet by packet.",
            show_default=False,
        ),
    ]
    losses: Annotated[
        int | None,
        Option(
            "--losses",
            metavar="N",
            min=0,
            help="Only transfers with N lost segments. [default: each number that the run has; "
            "where it varies other settings as well, and of several runs, the largest]",
            show_default=False,
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Option(
            "--baseline",
            metavar="CONFIG",
            help="What percentages are against. [default: the first configuration]",
            show_default=False,
        ),
    ] = None
    full: Annotated[
        bool,
        Option(
            "--full",
            help="Times in blocks, also where there are many, with standard deviations and the "
            "intervals of percentiles.",
        ),
    ] = False
    repairs: Annotated[
        bool,
        Option(
            "--repairs",
            help="What retransmitted the lost tail, in order, in place of the times.",
        ),
    ] = False
    flow: Annotated[
        str | None,
        Option(
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
        Option(
            "--at",
            metavar="SECONDS",
            help="With --flow of a trace: every packet around this time of the capture's clock.",
            show_default=False,
        ),
    ] = None
    figure: Annotated[
        list[Path] | None,
        Option(
            "--figure",
            metavar="FILE",
            help="With --flow: draw data, acknowledgements and retransmissions over time into "
            "this .pdf, .png or .svg; or write them for a program that draws: .xpl (xplot, jPlot), "
            ".qlog (qvis). Repeatable.",
            show_default=False,
        ),
    ] = None
    ladder: Annotated[
        bool,
        Option(
            "--ladder",
            help="With --figure, of a run: draw a ladder, client left and server right.",
        ),
    ] = False
    every_packet: Annotated[
        bool, Option("--all", help="With --flow: every packet, the uneventful ones too.")
    ] = False
    packetdrill: Annotated[
        bool,
        Option(
            "--packetdrill",
            help="With --flow: print its recovery as a script for packetdrill, which `rexmit "
            "packetdrill` runs: the sender of the data is the stack under test.",
        ),
    ] = False
    shortest: Annotated[
        bool,
        Option(
            "--shortest",
            help="With --packetdrill: leave out what can be while the script passes, by the "
            "packetdrill on PATH, with the same causes of retransmissions.",
        ),
    ] = False
    kernel: Annotated[
        str | None,
        Option(
            metavar="KERNEL",
            help="With --shortest: on which kernel. [default: the one that made the run]",
            show_default=False,
        ),
    ] = None
    seconds: Annotated[
        float | None,
        Option(
            metavar="S",
            min=0,
            help="With --shortest: search for so many real seconds at most. [default: 60]",
            show_default=False,
        ),
    ] = None
    inexact: Inexact = False
    unpack_limit: UnpackLimit = None
    html: Html = None
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False


@typed(ShowOptions)
def show(options: ShowOptions) -> None:
    """Print the tables of a run, or of several side by side.

    Times are the means of t_total (head sent to last lost data sent again), t_recover (first drop
    to first retransmission) and client (connect to end of file at the client) with their 95 %
    intervals, what each configuration gains over the first, and what made the first retransmission;
    with --losses or --full also percentiles. Of a run with bursts they are completion times by
    network, configuration and loss.

    \b
    Examples:
      rexmit show runs/smoke                           times by lost segments and configuration
      rexmit show runs/smoke --losses 5                of transfers with five lost, in full
      rexmit show runs/smoke --baseline tlp            percentages against another configuration
      rexmit show runs/smoke --repairs                 what retransmitted the lost tail
      rexmit show runs/model runs/6.1 runs/6.12        runs in one table
      rexmit show runs/smoke --flow 3 --all            one transfer as a ladder
      rexmit show runs/tlp --flow 0 --figure tlp.png --ladder    drawn, as in a talk
      rexmit show traced                               of `rexmit trace --out traced`: the worst
      rexmit show traced --flow 17 --figure 17.pdf     another connection of it
      rexmit show x.pcap --flow 0 --figure 0.xpl --figure 0.qlog   for xplot, and for qvis
      rexmit show runs/smoke --flow 3 --packetdrill > case.pkt    as a packet script
      rexmit show runs/smoke --flow 3 --packetdrill --shortest > case.pkt
      rexmit show x.pcap --flow '10.0.0.1:80 > 10.0.0.2:40000' --at 1700000012.5
    """
    asked = _Asked(options.losses, options.baseline, options.full, options.repairs, options.inexact)
    if options.flow is not None and asked != _NOTHING:
        raise UserError(
            f"--flow shows one transfer; {_ASKED} show tables",
            "leave one of them out",
            usage=True,
        )
    traced = len(options.runs) == 1 and _is_traced(options.runs[0])
    if traced and asked != _NOTHING:
        raise UserError(
            f"{options.runs[0]}: a trace has no {_ASKED}",
            "its page: rexmit trace; one connection: rexmit show --flow K",
            usage=True,
        )
    if options.every_packet and options.flow is None and not traced:
        raise UserError("--all belongs to --flow", "say which transfer: --flow K", usage=True)
    if (options.figure or options.at is not None) and options.flow is None and not traced:
        raise UserError("--figure and --at belong to --flow", "say which: --flow K", usage=True)
    if options.packetdrill and options.flow is None and not traced:
        raise UserError("--packetdrill belongs to --flow", "say which: --flow K", usage=True)
    if options.packetdrill and (
        options.every_packet or options.figure or options.as_json or len(options.runs) > 1
    ):
        raise UserError(
            "--packetdrill prints one script, and nothing else",
            "leave out --all, --figure and --json, and name one run",
            usage=True,
        )
    if options.shortest and not options.packetdrill:
        raise UserError(
            "--shortest belongs to --packetdrill", "ask for the script: --packetdrill", usage=True
        )
    if (options.kernel or options.seconds is not None) and not options.shortest:
        raise UserError(
            "--kernel and --seconds belong to --shortest",
            "a script is shortened on a kernel: --packetdrill --shortest",
            usage=True,
        )
    if options.ladder and not options.figure:
        raise UserError("--ladder belongs to --figure", "name a file: --figure FILE", usage=True)
    for path in options.figure or ():
        if not is_drawable(path) and ending(path) not in _EXPORTS:
            raise UserError(
                f"--figure {path}: unknown format",
                "name a .pdf, .png or .svg, an .xpl or a .qlog",
                usage=True,
            )
        if options.ladder and not is_drawable(path):
            raise UserError(
                f"--figure {path}: xplot and qvis draw no ladder", "leave --ladder out", usage=True
            )
    if len(options.runs) > 1 and (options.flow is not None or options.repairs or options.full):
        raise UserError(
            "--flow, --full and --repairs show one run",
            "name one run",
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
        _script_of(options),
    )
    from rexmit.library.opened import open_run

    if traced:
        _show_traced(options.runs[0], flow)
    elif options.flow is not None:
        _show_flow(options.runs[0], flow)
    elif len(options.runs) > 1:
        _show_beside(options.runs, asked, as_json=options.as_json)
    else:
        run = open_run(options.runs[0])
        show_run(run, _tables(run, asked), as_json=options.as_json)
    if options.html is not None:
        write_page([open_run(path) for path in options.runs], options.html, as_json=options.as_json)


def _is_traced(path: Path) -> bool:
    """Whether it is a capture, or the folder of a trace."""
    from rexmit.tracing.folder import is_trace

    return path.is_file() or is_trace(path)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which tables, over which transfers."""

    losses: int | None
    baseline: str | None
    full: bool
    repairs: bool
    inexact: bool

    @property
    def of_pages(self) -> bool:
        """Whether anything is asked that runs with bursts do not have."""
        return self.full or self.repairs or self.losses is not None or self.baseline is not None


_EXPORTS: Final = ("xpl", "qlog")
_NOTHING: Final = _Asked(None, None, full=False, repairs=False, inexact=False)
_ASKED: Final = "--losses, --baseline, --full, --repairs and --inexact"


def _tables(run: Run, asked: _Asked) -> Iterator[RunTable]:
    from rexmit.analysis.bursts import has_bursts
    from rexmit.analysis.bursts_as_json import cases_data
    from rexmit.analysis.repairs import repairs_data
    from rexmit.analysis.times import times_data
    from rexmit.library import tables
    from rexmit.present.bursts import case_blocks
    from rexmit.present.repairs import repair_blocks
    from rexmit.present.times import time_blocks

    if has_bursts(run) and not asked.of_pages:
        cases = tables.bursts(run, inexact=asked.inexact)
        yield RunTable("bursts", lambda: cases_data(cases), lambda _: case_blocks(cases))
    elif asked.repairs:
        rows = tables.repairs(run, losses=asked.losses, inexact=asked.inexact)
        yield RunTable(
            "repairs", lambda: repairs_data(rows), lambda room: repair_blocks(rows, room)
        )
    else:
        table = tables.times(
            run, losses=asked.losses, baseline=asked.baseline, inexact=asked.inexact
        )
        yield RunTable(
            "times",
            lambda: times_data(table),
            lambda room: time_blocks(table, room, in_full=asked.full),
        )


def _show_beside(paths: list[Path], asked: _Asked, *, as_json: bool) -> None:
    from rexmit.analysis.beside import beside_data
    from rexmit.analysis.bursts import has_bursts
    from rexmit.analysis.bursts_as_json import cases_data
    from rexmit.analysis.runner import runner
    from rexmit.library import tables
    from rexmit.library.opened import open_run
    from rexmit.present.beside import beside_blocks
    from rexmit.present.bursts import case_blocks_beside

    opened = [open_run(path) for path in paths]
    if all(map(has_bursts, opened)) and not asked.of_pages:
        every = [tables.bursts(run, inexact=asked.inexact) for run in opened]
        pairs = list(zip(opened, every, strict=True))
        runs = [(runner(run.meta), run.path) for run in opened]
        print_result(
            lambda: {
                "runs": [{"path": str(run.path), "bursts": cases_data(one)} for run, one in pairs]
            },
            lambda _: case_blocks_beside(every, runs),
            as_json=as_json,
        )
        return
    table = tables.beside(
        opened, losses=asked.losses, baseline=asked.baseline, inexact=asked.inexact
    )
    print_result(lambda: beside_data(table), lambda _: beside_blocks(table), as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Flow:
    """Which connection, and how much of it; of a trace '' is the one with most trouble."""

    which: str
    every_packet: bool
    at: float | None
    figures: tuple[Path, ...]
    ladder: bool
    as_json: bool
    script: _Script | None


@dataclass(frozen=True, slots=True)
class _Script:
    """Of a connection, and how it is shortened, if it is."""

    shortest: bool
    kernel: str | None
    seconds: float | None


def _script_of(options: ShowOptions) -> _Script | None:
    if not options.packetdrill:
        return None
    return _Script(options.shortest, options.kernel, options.seconds)


def _show_flow(path: Path, asked: _Flow) -> None:
    from rexmit.ladder.paths import PathFlow
    from rexmit.ladder.render import flow_blocks, flow_data
    from rexmit.ladder.render_paths import path_flow_blocks, path_flow_data
    from rexmit.library.flow import of_run
    from rexmit.library.opened import open_run

    if asked.script:
        _print_script(open_run(path), asked, asked.script)
        return
    opened = of_run(open_run(path), asked.which, asked.at)
    if isinstance(opened, PathFlow):
        data, blocks = partial(path_flow_data, opened), partial(path_flow_blocks, opened)
    else:
        data, blocks = partial(flow_data, opened), partial(flow_blocks, opened)
    print_result(data, partial(blocks, every_packet=asked.every_packet), as_json=asked.as_json)
    _draw(opened, asked)


def _show_traced(path: Path, asked: _Flow) -> None:
    from rexmit.ladder.render_traced import traced_blocks, traced_data
    from rexmit.library.flow import of_trace
    from rexmit.library.trace import trace
    from rexmit.result.blocks import Paragraph
    from rexmit.result.plain import plain
    from rexmit.tracing.changed import line as changes

    traced = trace(path, whatif=())
    if asked.script:
        _print_script(traced, asked, asked.script)
        return
    opened, why = of_trace(traced, asked.which or None, asked.at)

    def blocks(room: Room) -> Iterator[Block]:
        for line in changes(traced.changed):
            yield Paragraph(f"warning: {line}")
        if why:
            yield Paragraph(why)
        yield from traced_blocks(opened, room, every_packet=asked.every_packet, at_s=asked.at)

    print_result(
        lambda: {**traced_data(opened), "changed": plain(traced.changed)},
        blocks,
        as_json=asked.as_json,
    )
    _draw(opened, asked)


def _print_script(of: Run | Trace, asked: _Flow, script: _Script) -> None:
    if script.shortest:
        from rexmit.library.shortest import SECONDS, shortest_script
        from rexmit.progress import for_stream

        text = shortest_script(
            of,
            asked.which or None,
            at=asked.at,
            kernel=script.kernel,
            seconds=SECONDS if script.seconds is None else script.seconds,
            progress=for_stream(sys.stderr, "runs", transient=True),
        )
    else:
        from rexmit.library.flow import packet_script

        text = packet_script(of, asked.which or None, at=asked.at)
    for line in text.splitlines():
        outputs.line(line)


def _draw(opened: AnyFlow, asked: _Flow) -> None:
    drawn = [path for path in asked.figures if is_drawable(path)]
    if drawn:
        from rexmit.library.flow import draw_flow
        from rexmit.present.figures.save import save

        save(draw_flow(opened, at=asked.at, as_ladder=asked.ladder), drawn)
    for path in asked.figures:
        if path not in drawn:
            from rexmit.library.flow import export_flow
            from rexmit.present.figures.save import save_text

            save_text(export_flow(opened, ending(path), at=asked.at), path)
        outputs.line(path, err=asked.as_json)
