"""Analysing what passes an interface, or comes through a pipe, for as long as it lasts."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Unpack

from rexmit.errors import UserError, argument
from rexmit.options import given, takes
from rexmit.store.files import scratch_folder
from rexmit.tracing.folder import Trace
from rexmit.tracing.options import Analysis, Live
from rexmit.tracing.watch import run as runs
from rexmit.tracing.watch.rotation import Rotation
from rexmit.tracing.watch.seen import Seen

Hears = Callable[[Seen], object]


@takes(Analysis, Live)
def watch(
    what: str | PathLike[str],
    analysis: Analysis | None = None,
    *,
    out: str | PathLike[str] | None = None,
    rotation: Rotation | None = None,
    hear: Hears | None = None,
    **keywords: Unpack[Live],
) -> Trace | None:
    """What the senders do whose packets pass an interface (`any` is all of them), as dumpcap or
    tcpdump captures them, or come through a pipe (`-` is standard input, or a named pipe).

    It goes on until the capturing program, or the pipe, ends: the first of SIGINT and SIGTERM ends
    it where the program `rexmit` sees to signals. `hear` is called a few times a second with what
    was seen so far. Of an interface the kernel applies `capture_filter`. Without `out` large tables
    lie in a temporary folder until the trace is let go.

    With a `rotation`, for days and in bounded memory, rows are written as connections end, into a
    piece: a folder of a trace in `out`, which `trace` opens as one trace at any time. The trace of
    all pieces is given back; None where no packet came. The other arguments are those of `trace`.

    Raises UserError where there is no such interface or pipe, no program that captures, or no right
    to.
    """
    kept = ExitStack()
    try:
        watched_trace = watched(
            str(what), out, kept, given(analysis, Analysis, keywords), rotation, hear
        )
    except BaseException:
        kept.close()
        raise
    if watched_trace is not None:
        weakref.finalize(watched_trace, kept.close)
    return watched_trace


def watched(
    what: str,
    out: str | PathLike[str] | None,
    kept: ExitStack,
    analysis: Analysis,
    rotation: Rotation | None = None,
    hear: Hears | None = None,
) -> Trace | None:
    """As `watch`; without `out` large tables lie in a temporary folder that goes with `kept`."""
    pieces = () if rotation is None else ("replace",)
    analysis.refuse("what has no end", "points", "cluster", "resume", *pieces)
    if rotation is not None and not str(out or ""):
        raise UserError("there is no folder to write to", f"{argument('out')} DIR", usage=True)
    where = Path(out) if out is not None else kept.enter_context(scratch_folder()) / "trace"
    return runs.run(what, where, analysis, passing=out is None, rotation=rotation, hear=hear)
