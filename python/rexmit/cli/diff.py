"""`rexmit diff A B`: two runs, cell by cell and packet by packet, or two captures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.judged import Junit, for_machines
from rexmit.cli.limits import UnpackLimit
from rexmit.cli.run_tables import Inexact
from rexmit.errors import UserError, judging
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.comparison.compare import Comparison
    from rexmit.comparison.gate import Gate
    from rexmit.comparison.traces.compare import TraceComparison
    from rexmit.store.open_run import Run

EXAMPLES = """\
Examples:

\b
  rexmit diff runs/on-6.1 runs/on-6.12                         two kernels
  rexmit diff runs/model runs/kernel --metric t_recover --cell network=mobile
  rexmit diff runs/smoke runs/smoke --map config:er=tlp  two configurations of one run
  rexmit diff base mine --worse-than 5% || echo worse          in a build
  rexmit diff base.json mine --worse-than 5% --ktap            against a baseline that is kept
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
        Argument(
            metavar="A",
            help="Folder of a run or of a trace, a baseline (rexmit run --baseline), or a capture.",
            show_default=False,
        ),
    ]
    run_b: Annotated[
        str, Argument(metavar="B", help="What is compared with it.", show_default=False)
    ]
    metric: Annotated[
        list[str] | None,
        Option(
            "--metric",
            metavar="LIST",
            help="What is compared, by commas, of t_total, t_recover, client, burst, srtt, rto, "
            "retransmissions, timeouts, probes, spurious, dsacks; of captures, of round-trip, "
            "data-round-trip, loss, retransmitted, waited, payload, time, first-byte, total, "
            "unanswered. [default: t_total,t_recover,client; of captures all]",
            show_default=False,
        ),
    ] = None
    cell: Annotated[
        list[str] | None,
        Option(
            "--cell",
            metavar="AXIS=VALUES",
            help="Only cells with these values: network=mobile, config=er,tlp, lost=1..5; of "
            "captures host=10.0.0.1, port=443, path='GET a.org/x'. Repeatable.",
            show_default=False,
        ),
    ] = None
    mapping: Annotated[
        list[str] | None,
        Option(
            "--map",
            metavar="AXIS:A=B",
            help="Compare A's cells of one value with B's of another: config:tlp=er, "
            "host:10.0.0.1=10.0.0.2. Repeatable.",
            show_default=False,
        ),
    ] = None
    worse_than: Annotated[
        str | None,
        Option(
            "--worse-than",
            metavar="SHARE",
            help="Exit with 1 if B is worse than A: what is compared exceeds A's mean by more than "
            "this (5%), with its whole interval; something else makes the first retransmission; "
            "there are more timeouts, probes or spurious retransmissions; or only one of the two "
            "has a cell. Of captures: if something got worse by more.",
            show_default=False,
        ),
    ] = None
    ktap: Annotated[
        bool, Option("--ktap", help="With --worse-than: print KTAP, a line a cell.")
    ] = False
    junit: Junit = None
    packets: Annotated[
        str | None,
        Option(
            "--packets",
            metavar="CELL[/REP]",
            help="One transfer of both runs, packet by packet (runs with --capture): the number of "
            "a cell in A, or its words ('mobile tlp 5'). [REP: the first in which senders part]",
            show_default=False,
        ),
    ] = None
    tolerance: Annotated[
        str | None,
        Option(
            "--tolerance",
            metavar="TIME",
            help="With --packets: packets this far apart in time are alike (1ms). [default: a "
            "timer's tick]",
            show_default=False,
        ),
    ] = None
    ignore: Annotated[
        str,
        Option(
            "--ignore",
            metavar="LIST",
            help="With --packets: what does not count, by commas, of range, flags (without PSH), "
            "push, acknowledgement, mechanism, fate, time; or none.",
        ),
    ] = "push"
    figure: Annotated[
        list[Path] | None,
        Option(
            "--figure",
            metavar="FILE",
            help="With --packets: draw both ladders into this .pdf, .png or .svg. Repeatable.",
            show_default=False,
        ),
    ] = None
    every: Annotated[
        bool,
        Option(
            "--all",
            help="Every cell (with --packets: every packet; of captures every quantity), alike or "
            "not.",
        ),
    ] = False
    inexact: Inexact = False
    html: Html = None
    unpack_limit: UnpackLimit = None
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False


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

    With captures of both runs the packet is named at which the senders of the worst cell part.

    Exit status: 0; with --worse-than 1 where B is worse and 125 where that cannot be told (too few
    repetitions, a cell that failed); 2 when the two cannot be compared.
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
    if options.packets is not None and (options.metric or options.worse_than is not None):
        raise UserError(
            "--packets shows one transfer; --metric and --worse-than compare cells",
            "leave one of them out",
            usage=True,
        )
    if (options.ktap or options.junit is not None) and options.worse_than is None:
        raise UserError(
            "--ktap and --junit belong to --worse-than", "say how much is worse: 5%", usage=True
        )
    if options.ktap and options.as_json:
        raise UserError("--ktap and --json are two formats", "leave one of them out", usage=True)
    # A broken limit is an error before anything is read.
    most = None if options.worse_than is None else share(options.worse_than)
    if most is not None:
        judging()
    of_traces = library.is_of_traces(options.run_a, options.run_b)
    if options.packets is not None:
        if of_traces:
            raise UserError(
                "--packets compares runs, and these are captures",
                "rexmit show CAPTURE --flow K shows a connection packet by packet",
                usage=True,
            )
        library.chosen_by(options.cell, options.mapping)
        a, b = library.opened(options.run_a), library.opened(options.run_b)
        _show_packets(a, b, options.packets, options)
        return
    import sys

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
    gate = None if most is None else library.worse_than(comparison, most)
    _show(comparison, gate, options)
    if gate is not None:
        from rexmit.gate.cells import lines

        for_machines(lines(gate), "diff", ktap=options.ktap, junit=options.junit)
    write_page([comparison], options.html, as_json=options.as_json)
    if gate is not None:
        raise SystemExit(gate.exit_status)


def _show(
    comparison: Comparison | TraceComparison, gate: Gate | None, options: DiffOptions
) -> None:
    from rexmit.comparison.as_json import comparison_data
    from rexmit.comparison.compare import Comparison
    from rexmit.comparison.show_diff import comparison_blocks, gate_blocks
    from rexmit.comparison.show_packets import parting_blocks
    from rexmit.comparison.traces.show_changes import changes_blocks, changes_data
    from rexmit.library.diff_packets import where_they_part
    from rexmit.present.show import show
    from rexmit.present.terminal import console

    if options.ktap:
        return
    compared = where_they_part(comparison, gate) if isinstance(comparison, Comparison) else None
    if options.as_json:
        print_json(
            comparison_data(comparison, gate, compared)
            if isinstance(comparison, Comparison)
            else changes_data(comparison, gate)
        )
        return
    out = console()
    if isinstance(comparison, Comparison):
        show(comparison_blocks(comparison, every_cell=options.every), out)
    else:
        show(changes_blocks(comparison, every=options.every), out)
    if gate is not None:
        show(gate_blocks(gate, str(options.worse_than)), out)
    if compared is not None:
        show(parting_blocks(compared), out)


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
