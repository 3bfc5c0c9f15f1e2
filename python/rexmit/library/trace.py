"""Analysing captures."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path

from rexmit.errors import UserError, argument
from rexmit.library.ranges import whole, workers
from rexmit.progress import Hear, Progress, Silent, heard
from rexmit.store.files import scratch_folder
from rexmit.tracing import folder, selection
from rexmit.tracing import run as runs
from rexmit.tracing.folder import Trace
from rexmit.tracing.selection import Selection
from rexmit.tracing.source import CONNECTIONS_LIMIT, chosen

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def trace(
    files: Files,
    *,
    out: str | PathLike[str] | None = None,
    csv: bool = False,
    whatif: Sequence[str] = ("default",),
    stacks: Sequence[str] = (),
    jobs: int | None = None,
    connections_limit: int = CONNECTIONS_LIMIT,
    points: Sequence[str] | None = None,
    progress: Hear = None,
) -> Trace:
    """What the senders in captures did, why, and what it cost.

    `files` are captures (several are read as one stream, in time order), or a folder that an
    earlier trace kept. Captures that show the same packets at several points of the network are
    recognised, their clocks aligned, and each packet followed from point to point: the tables
    `points`, `legs` and `followed` have rows then. `points` are the names of the captures' points
    in their order (the same for captures of one point), where the packets are not to tell.

    The tables are kept in the folder `out`; without it they lie in a temporary folder until the
    trace is let go, so hold it as long as a frame of it is not collected. `whatif` names the
    settings under which connections are replayed: none are with `()`. `stacks` chooses the emulated
    senders by name (`linux-6`, `freebsd-5-unc2007`, `unc-2007` for the four of that study; with
    `no-` before a name all but that one): all without any. `jobs` threads work, one a core where it
    is None. `progress` is called with each step.

    Raises UserError where a file is not there or is no capture, or `out` cannot be written.
    """
    given = [files] if isinstance(files, str | PathLike) else list(files)
    paths = [Path(file) for file in given]
    if not paths:
        raise UserError("there is no capture to analyse", "give at least one file", usage=True)
    workers(jobs)
    whole("connections_limit", connections_limit, 16)
    kept = ExitStack()
    try:
        made = analysed(
            paths,
            None if out is None else Path(out),
            kept,
            csv=csv,
            whatif=whatif,
            stacks=stacks,
            jobs=jobs,
            connections_limit=connections_limit,
            points=None if points is None else list(points),
            progress=heard(progress, "packets"),
        )
    except BaseException:
        kept.close()
        raise
    weakref.finalize(made, kept.close)
    return made


def analysed(
    files: Sequence[Path],
    out: Path | None,
    kept: ExitStack,
    *,
    csv: bool = False,
    whatif: Sequence[str],
    stacks: Sequence[str] = (),
    jobs: int | None,
    connections_limit: int,
    points: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Trace:
    """The trace of files. Without `out` its tables lie in a temporary folder that goes with
    `kept`. A folder of a trace is opened instead. Raises UserError.
    """
    alone = next((path for path in files if path.is_dir()), None)
    if alone is not None:
        if len(files) > 1 or not folder.is_trace(alone):
            raise UserError(f"{alone} is a folder", "give captures, or one folder of a trace")
        made = folder.open_trace(alone)
        if stacks and set(chosen(stacks)) != set(made.facts.stacks):
            raise UserError(
                f"{alone} was analysed with others: {', '.join(made.facts.stacks) or 'all'}",
                f"analyse its captures again, or leave {argument('stacks')} out",
                usage=True,
            )
        return made
    where = out if out is not None else kept.enter_context(scratch_folder()) / "trace"
    return runs.run(
        files,
        where,
        csv=csv,
        passing=out is None,
        whatif=whatif,
        stacks=stacks,
        jobs=jobs,
        connections_limit=connections_limit,
        points=points,
        progress=progress or Silent(),
    )


def select(
    made: Trace,
    *,
    hosts: Iterable[str] = (),
    ports: Iterable[int] = (),
    since: str | None = None,
    until: str | None = None,
) -> Selection:
    """The part of a trace that is of some hosts (addresses, or prefixes as 10.0.0.0/8), of some
    ports, or of a time (2024-12-12T16:03:42, in UTC, or seconds since 1970).

    All packets of the captures were analysed all the same; `why_empty` says why there is none of
    them. Raises UserError.
    """
    return selection.select(made, wanted(hosts, ports, since, until))


def wanted(
    hosts: Iterable[str] | None, ports: Iterable[int] | None, since: str | None, until: str | None
) -> selection.Wanted:
    """What `select` chooses by. Raises UserError."""
    return selection.Wanted(
        [selection.host(word) for word in hosts or ()],
        list(ports or ()),
        None if since is None else selection.time_s(argument("since"), since),
        None if until is None else selection.time_s(argument("until"), until),
    )
