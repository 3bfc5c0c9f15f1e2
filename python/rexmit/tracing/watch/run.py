"""An interface or a pipe, into one folder at the end, or into one after the other meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rexmit import interrupt
from rexmit.interrupt import spared
from rexmit.sources import STDIN
from rexmit.tracing.folder import Trace, open_trace, pieces_of
from rexmit.tracing.inputs import FirstSignal, Read
from rexmit.tracing.options import Analysis
from rexmit.tracing.run import Destination, go_through
from rexmit.tracing.source import Batch, Core, Pace
from rexmit.tracing.watch.capture import interface
from rexmit.tracing.watch.rotation import Rotation, folders
from rexmit.tracing.watch.seen import Seen
from rexmit.tracing.watch.tcpdump_log import TcpdumpLog

_LOOKS_S: Final = 0.2
"""How long the program waits for rows before it looks at clocks and signals."""

_SHOWN: Final = Pace(stretch_s=1.0, wait_s=5.0)
"""Where somebody looks on until the end."""

_KEPT: Final = Pace(stretch_s=10.0, wait_s=300.0)
"""Where rows are kept for later."""

_LAST_S: Final = 0.5
"""After a signal: how long the other end of the pipe has to write what it holds."""

_ENOUGH_S: Final = 2.0
"""After a signal: when the pipe ends whatever waits in it."""


def run(
    what: str,
    folder: Path,
    analysis: Analysis,
    *,
    passing: bool,
    rotation: Rotation | None,
    hear: Callable[[Seen], object] | None,
) -> Trace | None:
    """Analyses until what is read ends, or until a signal comes: then what was read is worked
    through and written, and only another signal gives that up. The trace of all folders; None where
    no packet came for any. Raises UserError.
    """
    seen, log = Seen(what), None
    if rotation is not None and rotation.tcpdump_log is not None:
        log = TcpdumpLog(rotation.tcpdump_log)

    def look(read: Read[Core], batch: Batch) -> None:
        seen.look(read, batch)
        if log is not None:
            seen.tally.tcpdump_drops = log.drops()
        if hear is not None:
            hear(seen)

    is_pipe = what == STDIN or Path(what).is_fifo()
    pace = _SHOWN if rotation is None else _KEPT
    source = (_pipe if is_pipe else interface)(what, analysis, pace, _LOOKS_S)
    if rotation is None:
        return go_through(source, Destination.opened(folder, analysis, passing=passing), look)
    go_through(source, folders(folder, rotation, analysis, seen.tally), look)
    return open_trace(folder) if pieces_of(folder) else None


@contextmanager
def _pipe(name: str, analysis: Analysis, pace: Pace, looks_s: float) -> Iterator[Read[Core]]:
    """A pipe until it ends, which the first signal makes it do: later, when whoever writes it had
    time to.
    """
    stream = Core([Path(name)], analysis, pace=pace)

    def end(since_s: float) -> None:
        if since_s > _LAST_S:
            stream.stop(now=since_s > _ENOUGH_S)

    first = FirstSignal(interrupt.SIGNALS, "writing what was read")
    with spared(first):
        about: dict[str, object] = {"captures": [name], "files": []}
        yield Read(stream, about, ["watch", name], first, end, looks_s)
