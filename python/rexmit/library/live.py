"""Analysing what passes an interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path

from rexmit.library.ranges import whole, workers
from rexmit.store.files import scratch_folder
from rexmit.tracing.folder import Trace
from rexmit.tracing.live import run as runs
from rexmit.tracing.live.seen import Seen
from rexmit.tracing.source import CONNECTIONS_LIMIT, check_filter, chosen


def live(
    interface: str,
    kept: ExitStack,
    *,
    out: str | PathLike[str] | None = None,
    replace: bool = False,
    csv: bool = False,
    whatif: Sequence[str] = ("default",),
    stacks: Sequence[str] = (),
    jobs: int | None = None,
    connections_limit: int = CONNECTIONS_LIMIT,
    capture_filter: str | None = None,
    hear: Callable[[Seen], None] | None = None,
) -> Trace:
    """Captures on an interface ("any" is all of them), by dumpcap or tcpdump, and analyses at once.

    It goes on until the capturing program ends: the first of SIGINT and SIGTERM ends it where the
    program `rexmit` sees to signals. `hear` is called a few times a second with what was seen so
    far. The kernel applies `capture_filter`. Without `out` the tables lie in a temporary folder
    that goes with `kept`. The other arguments are those of `trace`.

    Raises UserError where there is no such interface, no program that captures, or no right to.
    """
    workers(jobs)
    whole("connections_limit", connections_limit, 16)
    chosen(stacks)
    check_filter(capture_filter)
    where = Path(out) if out is not None else kept.enter_context(scratch_folder()) / "trace"
    return runs.run(
        interface,
        where,
        csv=csv,
        passing=out is None,
        replace=replace,
        whatif=whatif,
        stacks=stacks,
        jobs=jobs,
        connections_limit=connections_limit,
        capture_filter=capture_filter,
        hear=hear or (lambda _: None),
    )
