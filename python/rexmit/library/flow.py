"""One transfer of a run, or one connection of a trace, packet by packet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeVar

from rexmit import extras
from rexmit.errors import UserError, argument, by_caller
from rexmit.ladder.conditions import captured_under, made_under
from rexmit.ladder.flow import Flow
from rexmit.ladder.flow import open_flow as open_page_flow
from rexmit.ladder.packet_script import Conditions
from rexmit.ladder.packet_script import packet_script as script_of
from rexmit.ladder.paths import PathFlow, open_path_flow
from rexmit.ladder.picture import Picture
from rexmit.ladder.qlog import qlog
from rexmit.ladder.render import title
from rexmit.ladder.render_paths import draw_path_ladders
from rexmit.ladder.render_traced import near_time
from rexmit.ladder.traced import Traced, is_row, open_traced
from rexmit.ladder.xplot import xplot
from rexmit.store.open_run import Run
from rexmit.tracing.folder import Trace
from rexmit.tracing.pick import most_trouble

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AnyFlow = Flow | PathFlow | Traced

Script = TypeVar("Script")


def open_flow(
    of: Run | Trace, which: int | str | None = None, *, at: float | None = None
) -> AnyFlow:
    """The packets of a transfer of a run that kept captures, or of a connection of a trace.

    `which` is a row of the run's transfers, or of the trace's connections, from 0; of a trace also
    a flow, "A:PORT > B:PORT", either way round (of several the one `at` that time of the capture's
    clock, seconds), or None for the one that waited longest. The answer has `steps`, a packet each,
    with times in ns since the first, and `row`, what the table has of it; over several paths also
    `subflows`.

    Raises UserError for none, and where the captures are not there or cannot be read.
    """
    return of_run(of, which, at) if isinstance(of, Run) else of_trace(of, which, at)[0]


@extras.told()
def draw_flow(flow: AnyFlow, *, at: float | None = None, as_ladder: bool = False) -> Figure:
    """Data (kB), acknowledgements and retransmissions by mechanism over time (seconds); of several
    paths a ladder a path. Of a trace only what is around the time `at`, if it is given.

    `as_ladder` draws a transfer of a run as a ladder, time downwards (ms), from shortly before its
    first loss on. Raises UserError (usage) for a connection of a trace, seen at one place.
    """
    if isinstance(flow, PathFlow):
        return draw_path_ladders(flow)
    if as_ladder and isinstance(flow, Flow):
        from rexmit.ladder.page import draw_page_ladder

        return draw_page_ladder(flow)
    if as_ladder:
        raise UserError(
            "a capture shows one end: there is no ladder between two to draw",
            f"leave out {argument('ladder')}",
            usage=True,
        )
    from rexmit.ladder.sequence import draw_sequence

    return draw_sequence(_picture(flow, at))


def export_flow(flow: AnyFlow, form: str, *, at: float | None = None) -> str:
    """A connection for a program that draws it: the text of its file.

    `form` is "xpl", the time-sequence graph of tcptrace for xplot (xplot.org) and jPlot, or "qlog",
    qlog 0.3 for qvis: TCP as far as the events of QUIC have a place for it. Of a trace only what is
    around the time `at`, if it is given. Raises UserError (usage) for another form, and for a
    connection over several paths, which neither can tell.
    """
    if isinstance(flow, PathFlow):
        raise _many(form, flow, "draw it: .pdf, .png or .svg")
    if form not in EXPORTS:
        raise UserError(argument("form", form), f"of {', '.join(EXPORTS)}", usage=True)
    return EXPORTS[form](_picture(flow, at))


def packet_script(
    of: Run | Trace, which: int | str | None = None, *, at: float | None = None
) -> str:
    """The recovery of a transfer of a run, or of a connection of a trace, as a script for
    packetdrill: the text of its file.

    The sender of the data is the stack under test. `which` and `at` say which connection, as in
    `open_flow`. What had to be assumed, and what could not be set, stands in comments at its head.

    Raises UserError as `open_flow`, and for a connection over several paths or without data.
    """
    return scripted(of, which, at, script_of)


def scripted(
    of: Run | Trace,
    which: int | str | None,
    at: float | None,
    write: Callable[[Picture, Conditions], Script],
) -> Script:
    """What `write` makes of the packets of a connection and what is known of it. Raises UserError
    as `packet_script`; ValueError of `write` is one.
    """
    flow = open_flow(of, which, at=at)
    if isinstance(flow, PathFlow):
        raise _many("a packet script", flow)
    try:
        if isinstance(flow, Traced):
            conditions = captured_under(flow)
        elif isinstance(of, Run):
            conditions = made_under(of, flow)
        return write(_picture(flow, None), conditions)
    except ValueError as error:
        raise UserError(f"flow {flow.number}: {error}") from None


def _many(what: str, flow: PathFlow, hint: str | None = None) -> UserError:
    """Why bursts, over one path or over several, cannot be told as one page."""
    count = len(flow.subflows)
    over = f" over {count} paths" if count > 1 else ""
    return UserError(
        f"{what} is of one page over one path, and flow {flow.number} sent bursts{over}",
        hint,
        usage=True,
    )


EXPORTS: Final = {"xpl": xplot, "qlog": qlog}
"""What writes each form of `export_flow`."""


def _picture(flow: Flow | Traced, at: float | None) -> Picture:
    if isinstance(flow, Flow):
        return Picture(title(flow), flow.steps, data_from_server=True)
    steps = flow.steps if at is None else near_time(flow, at)
    name = f"flow {flow.number}: {flow.row['flow']}"
    return Picture(name, steps, flow.data_from_server, flow.start_ns)


def of_run(run: Run, which: int | str | None, at: float | None = None) -> Flow | PathFlow:
    """A transfer of a run; see `open_flow`."""
    if not is_row(str(which)) or at is not None:
        named, it = by_caller(called="flow", typed="--flow"), by_caller(called="it", typed="K")
        raise UserError(
            f"{named} {which}: the transfers of a run have numbers",
            f"{it} is the row of transfers.parquet, from 0; {argument('at')} belongs to a trace",
            usage=True,
        )
    number = int(str(which))
    # A transfer that minds paths has subflows, one of plain TCP that is a page has none.
    if number < len(run.transfers) and run.transfers["subflows"][number] is not None:
        return open_path_flow(run, number)
    return open_page_flow(run, number)


def of_trace(trace: Trace, which: int | str | None, at: float | None = None) -> tuple[Traced, str]:
    """A connection of a trace; see `open_flow`. Where none was named, why it is this one."""
    remark = ""
    if which is None:
        which, remark = most_trouble(trace)
    return open_traced(trace, str(which), at), remark
