"""`rexmit diff RUN_A RUN_B`: two runs, cell by cell and packet by packet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.run_tables import Inexact
from rexmit.errors import EXIT_FAILED, UserError
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.store.open_run import Run

EXAMPLES = """\
Examples:

\b
  rexmit diff runs/on-6.1 runs/on-6.12                         two kernels
  rexmit diff runs/model runs/kernel --metric t_recover --cell network=mobile
  rexmit diff runs/smoke runs/smoke --map config:er=tlp  two configurations of one run
  rexmit diff base mine --fail-over 5% || echo worse           in a build
  rexmit diff runs/model runs/kernel --packets 'mobile tlp 5'  where the senders part
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """What can be typed, in the order in which `--help` has it."""

    run_a: Annotated[
        Path, typer.Argument(metavar="RUN_A", help="Folder of a run.", show_default=False)
    ]
    run_b: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_B", help="Folder of the run compared with it.", show_default=False
        ),
    ]
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="LIST",
            help="What is compared, by commas, of t_total, t_recover, client, srtt, rto, "
            "retransmissions, timeouts, probes, spurious, dsacks. "
            "[default: t_total,t_recover,client]",
            show_default=False,
        ),
    ] = None
    cell: Annotated[
        list[str] | None,
        typer.Option(
            "--cell",
            metavar="AXIS=VALUES",
            help="Only cells with these values: network=mobile, config=er,tlp, lost=1..5. "
            "Repeatable.",
            show_default=False,
        ),
    ] = None
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="AXIS:A=B",
            help="Compare A's cells of one value with B's of another: config:tlp=er. Repeatable.",
            show_default=False,
        ),
    ] = None
    fail_over: Annotated[
        str | None,
        typer.Option(
            "--fail-over",
            metavar="SHARE",
            help="Exit with 1 if a cell differs by more than this (5%) and more than chance, "
            "in what is compared, or if a cell failed.",
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
        bool, typer.Option("--all", help="Every cell (with --packets: every packet), alike or not.")
    ] = False
    inexact: Inexact = False
    html: Html = None
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False


@typed(DiffOptions)
def diff(options: DiffOptions) -> None:
    """Compare two runs: cell by cell, with what differs by more than chance, and with captures
    packet by packet.

    Cells belong together that have the same values on every axis. Of each quantity there are both
    means and their difference, each with half its 95 % interval; a difference of times has to be
    a tick of the timers at least. Cells whose transfers started at the same phases are compared
    repetition by repetition, of several seeds seed by seed.

    Exit status: 0; 1 when --fail-over is exceeded; 2 when the runs cannot be compared.
    """
    from rexmit.comparison.compare import USUAL
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
    metrics = library.checked(_parts(options.metric) if options.metric else USUAL)
    library.chosen_by(options.cell, options.mapping)
    # Of a broken limit is told before anything is read.
    most = share(options.fail_over) if options.fail_over is not None else None
    a, b = library.opened(options.run_a), library.opened(options.run_b)
    if options.packets is not None:
        _show_packets(a, b, options.packets, options)
        return
    from rexmit.comparison.as_json import comparison_data
    from rexmit.comparison.print_diff import print_comparison, print_trips
    from rexmit.present.terminal import console

    comparison = library.diff(
        a, b, metrics=metrics, cells=options.cell, maps=options.mapping, inexact=options.inexact
    )
    over = None if most is None else library.differences_over(comparison, most)
    if options.as_json:
        print_json(comparison_data(comparison, over))
    else:
        out = console()
        print_comparison(comparison, out, every_cell=options.every)
        if over is not None:
            print_trips(over, str(options.fail_over), out)
    write_page([comparison], options.html, as_json=options.as_json)
    if over is not None and (over or any(comparison.failed)):
        raise typer.Exit(EXIT_FAILED)


def _parts(texts: list[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _show_packets(a: Run, b: Run, transfer: str, options: DiffOptions) -> None:
    """Print, and draw if asked to, where the senders of a transfer part. Raises UserError (usage)
    for what cannot be compared.
    """
    from rexmit.comparison.print_packets import packets_data, print_packets
    from rexmit.library.diff_packets import diff_packets, draw_packets
    from rexmit.present.figures.save import is_drawable, save
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
        print_packets(compared, a, b, console(), every_packet=options.every)
    if figures:
        for path in save(draw_packets(compared, a, b, every_packet=options.every), figures):
            outputs.line(path, err=options.as_json)
