"""Analysing a capture that has no end."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from rexmit.errors import UserError, argument
from rexmit.tracing.always import run as runs
from rexmit.tracing.always.amounts import amount, seconds
from rexmit.tracing.always.metrics import address
from rexmit.tracing.always.run import Wanted
from rexmit.tracing.always.tally import Tally
from rexmit.tracing.options import Analysis


def always(
    pipe: str | PathLike[str], out: str | PathLike[str], wanted: Wanted, analysis: Analysis
) -> Tally:
    """Analyses a pipe (`-` is standard input) for as long as it lasts, in bounded memory, and
    returns what was counted.

    Rows are written as connections end, into a piece: a folder of a trace in `out`, which is opened
    as one trace, at any time, by `trace`. The first of SIGINT, SIGTERM and SIGHUP ends the pipe
    where the program `rexmit` sees to signals. Raises UserError.
    """
    runs.check(Path(pipe), wanted.rotate)
    analysis.refuse("a pipe without an end", "points", "replace", "cluster", "resume")
    if not str(out):
        raise UserError("there is no folder to write to", f"{argument('out')} DIR", usage=True)
    return runs.run(Path(pipe), Path(out), wanted, analysis)


def wanted(
    rotate: str,
    keep: str | None = None,
    metrics_address: str | None = None,
    every: str | None = "60s",
    tcpdump_log: str | PathLike[str] | None = None,
) -> Wanted:
    """When the next piece begins ("1h", "500MB"); how many of them stay ("24"), or how much
    ("20GB", "7d"); where counts are told as OpenMetrics ("127.0.0.1:9100"); how often on standard
    error; and the file of tcpdump's standard error, from which dropped packets are counted. Raises
    UserError.
    """
    return Wanted(
        amount(argument("rotate"), rotate),
        None if keep is None else amount(argument("keep"), keep),
        None if metrics_address is None else address(metrics_address),
        None if every is None else seconds(argument("every"), every),
        None if tcpdump_log is None else Path(tcpdump_log),
    )
