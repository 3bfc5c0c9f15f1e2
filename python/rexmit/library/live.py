"""Analysing what passes an interface."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Unpack

from rexmit.options import given, takes
from rexmit.store.files import scratch_folder
from rexmit.tracing.folder import Trace
from rexmit.tracing.live import run as runs
from rexmit.tracing.live.seen import Seen
from rexmit.tracing.options import Analysis, Live


@takes(Analysis, Live)
def live(
    interface: str,
    kept: ExitStack,
    analysis: Analysis | None = None,
    *,
    out: str | PathLike[str] | None = None,
    hear: Callable[[Seen], None] | None = None,
    **keywords: Unpack[Live],
) -> Trace:
    """Captures on an interface ("any" is all of them), by dumpcap or tcpdump, and analyses at once.

    It goes on until the capturing program ends: the first of SIGINT and SIGTERM ends it where the
    program `rexmit` sees to signals. `hear` is called a few times a second with what was seen so
    far. The kernel applies `capture_filter`. Without `out` the tables lie in a temporary folder
    that goes with `kept`. The other arguments are those of `trace`.

    Raises UserError where there is no such interface, no program that captures, or no right to.
    """
    asked = given(analysis, Analysis, keywords)
    asked.refuse("an interface", "points", "cluster", "resume")
    where = Path(out) if out is not None else kept.enter_context(scratch_folder()) / "trace"
    return runs.run(interface, where, asked, passing=out is None, hear=hear or (lambda _: None))
