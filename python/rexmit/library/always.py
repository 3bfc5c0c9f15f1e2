"""Analysing a capture that has no end."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from rexmit.errors import UserError, argument
from rexmit.library.ranges import whole, workers
from rexmit.tracing.always import run as runs
from rexmit.tracing.always.amounts import amount, seconds
from rexmit.tracing.always.metrics import address
from rexmit.tracing.always.tally import Tally
from rexmit.tracing.source import CONNECTIONS_LIMIT, check_filter, chosen


def always(
    pipe: str | PathLike[str],
    out: str | PathLike[str],
    *,
    rotate: str,
    keep: str | None = None,
    metrics_address: str | None = None,
    every: str | None = "60s",
    tcpdump_log: str | PathLike[str] | None = None,
    csv: bool = False,
    whatif: Sequence[str] = ("default",),
    stacks: Sequence[str] = (),
    jobs: int | None = None,
    connections_limit: int = CONNECTIONS_LIMIT,
    capture_filter: str | None = None,
) -> Tally:
    """Analyses a pipe (`-` is standard input) for as long as it lasts, in bounded memory, and
    returns what was counted.

    Rows are written as connections end, into a piece: a folder of a trace in `out`. `rotate` ("1h",
    "500MB") says when the next one begins; `keep` how many of them stay ("24"), or how much
    ("20GB", "7d"). `out` is opened as one trace, at any time, by `trace`. Counts are told at
    `metrics_address` ("127.0.0.1:9100") as OpenMetrics, and `every` so often ("60s") on standard
    error. `tcpdump_log` is the file of tcpdump's standard error, from which dropped packets are
    counted. The other arguments are those of `trace`.

    The first of SIGINT, SIGTERM and SIGHUP ends the pipe where the program `rexmit` sees to
    signals. Raises UserError.
    """
    size = amount(argument("rotate"), rotate)
    runs.check(Path(pipe), size)
    workers(jobs)
    whole("connections_limit", connections_limit, 16)
    chosen(stacks)
    check_filter(capture_filter)
    wanted = runs.Wanted(
        size,
        None if keep is None else amount(argument("keep"), keep),
        None if metrics_address is None else address(metrics_address),
        None if every is None else seconds(argument("every"), every),
        None if tcpdump_log is None else Path(tcpdump_log),
    )
    if not str(out):
        raise UserError("there is no folder to write to", f"{argument('out')} DIR", usage=True)
    return runs.run(
        Path(pipe),
        Path(out),
        wanted,
        csv=csv,
        whatif=whatif,
        stacks=stacks,
        jobs=jobs,
        connections_limit=connections_limit,
        capture_filter=capture_filter,
    )
