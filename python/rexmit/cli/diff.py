"""`rexmit diff A B`: two runs, cell by cell and packet by packet, or two captures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.limits import UnpackLimit
from rexmit.cli.run_tables import Inexact
from rexmit.errors import EXIT_FAILED, UserError
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.comparison.compare import Comparison
    from rexmit.comparison.gate import Trip
    from rexmit.comparison.traces.compare import TraceComparison
    from rexmit.store.open_run import Run

EXAMPLES = """\
Examples:

\b
  rexmit diff runs/on-6.1 runs/on-6.12                         two kernels
  rexmit diff runs/model runs/kernel --metric t_recover --cell network=mobile
  rexmit diff runs/smoke runs/smoke --map config:er=tlp  two configurations of one run
  rexmit diff base mine --fail-over 5% || echo worse           in a build
  rexmit diff runs/model runs/kernel --packets 'mobile tlp 5'  where the senders part
  rexmit diff before.pcap after.pcap                           what got better, what worse
  rexmit diff monday tuesday.pcap --html diff.html             a folder of `rexmit trace --out`
  rexmit diff old.pcap new.pcap --map host:10.0.0.1=10.0.0.2   the server has moved
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What can be typed, in the order in which `--help` has it."""

    run_a: Annotated[
        str,
        typer.Argument(
            metavar="A", help="Folder of a run or of a trace, or a capture.", show_default=False
        ),
    ]
    run_b: Annotated[
        str, typer.Argument(metavar="B", help="What is compared with it.", show_default=False)
    ]
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="LIST",
            help="What is compared, by commas, of t_total, t_recover, client, srtt, rto, "
            "retransmissions, timeouts, probes, spurious, dsacks; of captures, of round-trip, "
            "data-round-trip, loss, retransmitted, waited, payload, time, first-byte, total, "
            "unanswered. [default: t_total,t_recover,client; of captures all]",
            show_default=False,
        ),
    ] = None
    cell: Annotated[
        list[str] | None,
        typer.Option(
            "--cell",
            metavar="AXIS=VALUES",
            help="Only cells with these values: network=mobile, config=er,tlp, lost=1..5; of "
            "captures host=10.0.0.1, port=443, path='GET a.org/x'. Repeatable.",
            show_default=False,
        ),
    ] = None
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="AXIS:A=B",
            help="Compare A's cells of one value with B's of another: config:tlp=er, "
            "host:10.0.0.1=10.0.0.2. Repeatable.",
            show_default=False,
        ),
    ] = None
    fail_over: Annotated[
        str | None,
        typer.Option(
            "--fail-over",
            metavar="SHARE",
            help="Exit with 1 if a cell differs by more than this (5%) and more than chance, "
            "in what is compared, or if a cell failed; of captures, if something got worse by it.",
            show_default=False,
        ),
    ] = None
    packets: Annotated[
        str | None,
        typer.Option(
            "--packets",
            metavar="CELL[/REP]",
            help="One transfer of both runs, packet by packet (runs with --capture): the number of "
            "a cell in A, or its words ('mobile tlp 5'). [REP: the first in which senders part]",
            show_default=False,
        ),
    ] = None
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            metavar="TIME",
            help="With --packets: packets this far apart in time are alike (1ms). [default: a "
            "timer's tick]",
            show_default=False,
        ),
    ] = None
    ignore: Annotated[
        str,
        typer.Option(
            "--ignore",
            metavar="LIST",
            help="With --packets: what does not count, by commas, of range, flags (without PSH), "
            "push, acknowledgement, mechanism, fate, time; or none.",
        ),
    ] = "push"
    figure: Annotated[
        list[Path] | None,
        typer.Option(
            "--figure",
            metavar="FILE",
            help="With --packets: draw both ladders into this .pdf, .png or .svg. Repeatable.",
            show_default=False,
        ),
    ] = None
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Every cell (with --packets: every packet; of captures every quantity), alike or "
            "not.",
        ),
    ] = False
    inexact: Inexact = False
    html: Html = None
    unpack_limit: UnpackLimit = None
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False


@typed(DiffOptions)
def diff(options: DiffOptions) -> None:
    """Compare two runs: cell by cell, with what differs by more than chance, and with captures
    packet by packet. Or compare two captures, before and after a change: by server, port and path.

    Cells belong together that have the same values on every axis. Of each quantity there are both
    means and their difference, each with half its 95 % interval; a difference of times has to be
    a tick of the timers at least. Cells whose transfers started at the same phases are compared
    repetition by repetition, of several seeds seed by seed.

    Of captures, and folders that `rexmit trace --out` made, servers belong together by address and
    port, requests by method, name and path. What got worse and what better is said in the order of
    its weight: round trips, losses, whose the time was, how long answers took, each with its
    interval.

    Exit status: 0; 1 when --fail-over is exceeded; 2 when the two cannot be compared.
    """
    from rexmit.comparison.gate import share
    from rexmit.library import diff as library

    if options.packets is None and (
        options.tolerance is not None or options.ignore != "push" or options.figure
    ):
        raise UserError(
            "--tolerance, --ignore and --figure belong to --packets",
            "say which transfer: --packets CELL",
            usage=True,
        )
    if options.packets is not None and options.html is not None:
        raise UserError(
            "--html compares the runs, and packet by packet where they have captures",
            "leave --packets out",
            usage=True,
        )
    if options.packets is not None and (options.metric or options.fail_over is not None):
        raise UserError(
            "--packets shows one transfer; --metric and --fail-over compare cells",
            "leave one of them out",
            usage=True,
        )
    # Of a broken limit is told before anything is read.
    most = share(options.fail_over) if options.fail_over is not None else None
    of_traces = library.is_of_traces(options.run_a, options.run_b)
    if options.packets is not None:
        if of_traces:
            raise UserError(
                "--packets is of runs, and these are captures",
                "rexmit show CAPTURE --flow K shows a connection packet by packet",
                usage=True,
            )
        library.chosen_by(options.cell, options.mapping)
        a, b = library.opened(options.run_a), library.opened(options.run_b)
        _show_packets(a, b, options.packets, options)
        return
    import sys

    from rexmit.comparison.compare import Comparison
    from rexmit.progress import for_stream

    comparison = library.diff(
        options.run_a,
        options.run_b,
        metrics=_parts(options.metric) if options.metric else None,
        cells=options.cell,
        maps=options.mapping,
        inexact=options.inexact,
        progress=for_stream(sys.stderr, "packets", transient=True) if of_traces else None,
    )
    over = None if most is None else library.differences_over(comparison, most)
    _show(comparison, over, options)
    write_page([comparison], options.html, as_json=options.as_json)
    failed = isinstance(comparison, Comparison) and any(comparison.failed)
    if over is not None and (over or failed):
        raise typer.Exit(EXIT_FAILED)


def _show(
    comparison: Comparison | TraceComparison, over: list[Trip] | None, options: DiffOptions
) -> None:
    from rexmit.comparison.as_json import comparison_data
    from rexmit.comparison.compare import Comparison
    from rexmit.comparison.show_diff import comparison_blocks, trips_blocks
    from rexmit.comparison.traces.show_changes import changes_blocks, changes_data
    from rexmit.present.show import show
    from rexmit.present.terminal import console

    if options.as_json:
        print_json(
            comparison_data(comparison, over)
            if isinstance(comparison, Comparison)
            else changes_data(comparison, over)
        )
        return
    out = console()
    if isinstance(comparison, Comparison):
        show(comparison_blocks(comparison, every_cell=options.every), out)
    else:
        show(changes_blocks(comparison, every=options.every), out)
    if over is not None:
        show(trips_blocks(over, str(options.fail_over)), out)


def _parts(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _show_packets(a: Run, b: Run, transfer: str, options: DiffOptions) -> None:
    """Print, and draw if asked to, where the senders of a transfer part. Raises UserError (usage)
    for what cannot be compared.
    """
    from rexmit.comparison.show_packets import packets_blocks, packets_data
    from rexmit.library.diff_packets import diff_packets, draw_packets
    from rexmit.present.figures.formats import is_drawable
    from rexmit.present.figures.save import save
    from rexmit.present.show import room, show
    from rexmit.present.terminal import console

    figures = options.figure or []
    for path in figures:
        if not is_drawable(path):
            raise UserError(
                f"--figure {path}: no such format",
                "its name ends in .pdf, .png or .svg",
                usage=True,
            )
    compared = diff_packets(
        a,
        b,
        transfer,
        cells=options.cell,
        maps=options.mapping,
        tolerance=options.tolerance,
        ignore={part.strip() for part in options.ignore.split(",") if part.strip()} - {"none"},
    )
    if options.as_json:
        print_json(packets_data(compared))
    else:
        out = console()
        show(packets_blocks(compared, a, b, room(out), every_packet=options.every), out)
    if figures:
        for path in save(draw_packets(compared, a, b, every_packet=options.every), figures):
            outputs.line(path, err=options.as_json)
