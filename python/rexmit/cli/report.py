"""`rexmit report PATH…`: one self-contained page to open in a browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import configuration, outputs
from rexmit.cli.as_json import print_json
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import say
from rexmit.cli.limits import UnpackLimit
from rexmit.cli.selection import Host, Port, Since, Until
from rexmit.errors import UserError
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.tracing.folder import Trace

EXAMPLES = """\
Examples:

\b
  rexmit report capture.pcapng                     a page about a capture: report.html
  rexmit report today -o today.html                about what `rexmit trace --out today` kept
  rexmit report today --connections 17,23          with the packets of these connections
  rexmit report runs/smoke                         a run: tables and figures
  rexmit report runs/on-6.1 runs/on-6.12           two runs, and where their senders part
  rexmit report runs/agree-6.12                    what `rexmit validate agree` kept
  rexmit report today --table connections          a table of the page as CSV
  rexmit report today --table retransmissions --where 'mechanism=rto waited_s>0.5' --sort=-waited_s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """What can be typed, in the order in which `--help` has it."""

    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH...",
            help="Folders of runs, of traces, of `rexmit validate agree`; or captures, which "
            "together are one trace. Two runs are compared, too.",
            show_default=False,
        ),
    ]
    out: Annotated[
        Path | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The page. [default: report.html]",
            show_default=False,
        ),
    ] = None
    host: Host = None
    port: Port = None
    since: Since = None
    until: Until = None
    connections: Annotated[
        str | None,
        Option(
            "--connections",
            metavar="K,K...",
            help="Put the packets of these into the page: rows of connections.parquet, or of a "
            "run's transfers.parquet, from 0. [default: those that waited longest]",
            show_default=False,
        ),
    ] = None
    packets: Annotated[
        int | None,
        Option(
            "--packets",
            metavar="N",
            min=0,
            help="Without --connections: as many packets at most. [default: 200,000, some 4 MB]",
            show_default=False,
        ),
    ] = None
    table: Annotated[
        str | None,
        Option(
            "--table",
            metavar="NAME",
            help="Print this table of the page as CSV, and write no page.",
            show_default=False,
        ),
    ] = None
    where: Annotated[
        str | None,
        Option(
            "--where",
            metavar="TERMS",
            help="With --table: the rows that fit, as in the page's search field: words to find, "
            "and comparisons like waited_s>0.5 mechanism=rto need=spurious rtt_median_s!=null.",
            show_default=False,
        ),
    ] = None
    sort: Annotated[
        str | None,
        Option(
            "--sort",
            metavar="COLUMN",
            help="With --table: rows in order of a column; --sort=-COLUMN from the largest down.",
            show_default=False,
        ),
    ] = None
    unpack_limit: UnpackLimit = None
    as_json: Annotated[bool, Option("--json", help="Say what was written as JSON.")] = False


@typed(ReportOptions)
def report(options: ReportOptions) -> None:
    """Write a page about runs, traces, what differs and what agrees: one file that opens in a
    browser from the disk, without a server or the network.

    It has what the terminal shows, tables to sort, filter and search, figures, connections packet
    by packet to zoom into, two of them beside each other, and what-if by sliders. Each view has an
    address to send, and the command that prints the same numbers.
    """
    import sys

    from rexmit.library import report as library
    from rexmit.library.trace import select, trace
    from rexmit.progress import for_stream
    from rexmit.store.run_json import NAME as RUN
    from rexmit.webpage.choose import PACKETS

    if options.connections is not None and options.packets is not None:
        raise UserError(
            "--packets limits what rexmit chooses; --connections makes the choice",
            "leave one of them out",
            usage=True,
        )
    if options.table is None and (options.where is not None or options.sort is not None):
        raise UserError(
            "--where and --sort need --table",
            "as in --table connections --sort=-waited_s",
            usage=True,
        )
    progress = for_stream(sys.stderr, "packets", transient=True)
    of: list[str] | Trace = options.paths
    if options.host or options.port or options.since or options.until:
        if run := next((path for path in options.paths if (Path(path) / RUN).is_file()), None):
            raise UserError(
                f"{run} is a run: --host, --port, --from and --to choose connections of a trace",
                "leave them out, or name captures or a folder of a trace",
                usage=True,
            )
        of = select(
            trace(options.paths, progress=progress),
            hosts=options.host or (),
            ports=options.port or (),
            since=options.since,
            until=options.until,
        )
    if options.table is not None:
        table = library.report_table(
            of, options.table, where=options.where, sort=options.sort, progress=progress
        )
        from rexmit.store.schema import without_formulas
        from rexmit.webpage.columns import shown_texts

        outputs.lines(without_formulas(shown_texts(table).lazy()).collect().write_csv())
        return
    page = library.report(
        of,
        options.out or _page(),
        connections=None if options.connections is None else numbers(options.connections),
        packets=PACKETS if options.packets is None else options.packets,
        progress=progress,
    )
    if options.as_json:
        print_json(page.as_json())
        return
    say(page)


def _page() -> Path:
    """Where a page goes that is given no place."""
    folder = configuration.current().folder
    if folder is None:
        return Path("report.html")
    from rexmit.store.opening import named_folder

    named_folder(folder)
    return folder / "report.html"


def numbers(text: str) -> list[int]:
    """`17,23` as numbers. Raises UserError (usage)."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() for part in parts):
        raise UserError(
            f"--connections {text}: not numbers separated by commas",
            "as in --connections 17,23",
            usage=True,
        )
    return [int(part) for part in parts]
