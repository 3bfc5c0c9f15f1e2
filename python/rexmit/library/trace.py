"""Analysing captures."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Unpack

from rexmit.errors import UserError, argument
from rexmit.options import given, takes, whole
from rexmit.progress import Hear, Progress, heard
from rexmit.sources import Capture, Remote, find, packed
from rexmit.store.files import scratch_folder
from rexmit.tracing import folder, selection
from rexmit.tracing import run as runs
from rexmit.tracing.folder import Trace
from rexmit.tracing.options import Analysis, Keywords, chosen
from rexmit.tracing.selection import Selection

Files = str | PathLike[str] | Remote | Iterable[str | PathLike[str] | Remote]


@takes(Analysis, Keywords)
def trace(
    files: Files,
    analysis: Analysis | None = None,
    *,
    out: str | PathLike[str] | None = None,
    unpack_limit: int | None = None,
    progress: Hear = None,
    **keywords: Unpack[Keywords],
) -> Trace:
    """What the senders in captures did, why, and what it cost.

    `files` are captures (several are read as one stream, in time order), or a folder that an
    earlier trace kept. A capture is a path, an address (s3://BUCKET/PATH, gs://, az://, https://),
    or a pattern of either, as in `s3://BUCKET/day/*.pcap.zst`; what is not a file is read piece by
    piece, and nothing of it is kept. One of several that is missing, or no capture, is left out,
    which `Trace.facts.warnings` says.

    Captures that show the same packets at several points of the network are recognised, their
    clocks aligned, and each packet followed from point to point: the tables `points`, `legs` and
    `followed` have rows then. `points` are the names of the captures' points
    in their order (the same for captures of one point), where the packets are not to tell.

    The tables are kept in the folder `out`, in place of a trace that it holds where `replace` says
    so; without it they are in memory, and what there are many rows of in a temporary folder until
    the trace is let go, so hold it as long as a frame of it is not collected. `whatif` names the
    settings under which connections are replayed: none are with `()`. `stacks` chooses the emulated
    senders by name (`linux-6`, `freebsd-5-unc2007`, `unc-2007` for the four of that study; with
    `no-` before a name all but that one): all without any. Without `names` requests have no names
    of servers and no paths. `jobs` threads work, one a core where it is None. `tables` names those
    that are made and kept: all where it is None, and of all what a page reads where it names none.
    `progress` is called with each step. What else is said by keywords may be made once, as an
    `analysis`; keywords beside it change it.

    `cluster` spreads the work over processes (`local:8`) or the workers of a Dask scheduler
    (`tls://HOST:PORT`; with certificates, a `ClusterAddress`), which all see the folder `out`; the
    captures are of one point then, and the tables are the same. An analysis that was interrupted
    goes on with `resume`: what was read before is not read again, but for captures that have
    changed.

    `capture_filter` is an expression of libpcap's language ("host 10.0.0.1 and port 443"): packets
    that do not pass it are not analysed. `select` chooses connections afterwards, of which all
    packets count.

    A packed capture (gzip, zstd, lz4, xz) is read until it has unpacked to `unpack_limit` times its
    size (10,000 where it is None), and to 16 MiB at least; a warning says where that was not all.

    Raises UserError where a file is not there or is no capture, or `out` cannot be written.
    """
    asked = given(analysis, Analysis, keywords)
    named = [files] if isinstance(files, str | PathLike | Remote) else list(files)
    if not named:
        raise UserError("there is no capture to analyse", "give at least one file", usage=True)
    captures, missing = find(named, every=asked.points is not None)
    kept = ExitStack()
    if unpack_limit is not None:
        whole("unpack_limit", unpack_limit, 1, 2**63 - 1)
    meter, where = heard(progress, "packets"), None if out is None else Path(out)
    try:
        with packed.allowed(unpack_limit):
            result = analysed(captures, where, kept, asked, progress=meter, missing=missing)
    except BaseException:
        kept.close()
        raise
    weakref.finalize(result, kept.close)
    return result


def analysed(
    files: Sequence[Capture],
    out: Path | None,
    kept: ExitStack,
    analysis: Analysis,
    *,
    progress: Progress | None = None,
    missing: Sequence[str] = (),
) -> Trace:
    """The trace of files. Without `out` large tables lie in a temporary folder that goes with
    `kept`. A folder of a trace is opened instead. Raises UserError.
    """
    alone = next((path for path in files if isinstance(path, Path) and path.is_dir()), None)
    if alone is not None:
        if len(files) > 1 or not folder.is_trace(alone):
            raise UserError(f"{alone} is a folder", "give captures, or one folder of a trace")
        return _opened(alone, analysis)
    if analysis.cluster is None:
        where = out if out is not None else kept.enter_context(scratch_folder()) / "trace"
        return runs.run(
            files,
            where,
            analysis,
            passing=out is None,
            progress=progress,
            missing=missing,
        )
    if out is None:
        raise UserError(
            f"{argument('cluster')} needs a folder for what workers make",
            f"name one that all of them see: {argument('out', 'DIR')}",
            usage=True,
        )
    from rexmit.tracing import on_cluster

    return on_cluster.run(
        files, out, analysis.cluster, analysis, progress=progress, missing=missing
    )


def _opened(path: Path, analysis: Analysis) -> Trace:
    """The trace that is kept in a folder. Raises UserError where it was made otherwise."""
    result = folder.open_trace(path)
    asked = analysis.capture_filter
    if asked is not None and asked != result.facts.capture_filter:
        raise UserError(
            f"{argument('capture_filter')} chooses packets before they are analysed, and "
            f"{path} is an analysis",
            "analyse its captures again, or choose connections: "
            f"{argument('hosts')}, {argument('ports')}",
            usage=True,
        )
    if analysis.stacks and set(chosen(analysis.stacks)) != set(result.facts.stacks):
        raise UserError(
            f"{path} was analysed with others: {', '.join(result.facts.stacks) or 'all'}",
            f"analyse its captures again, or leave {argument('stacks')} out",
            usage=True,
        )
    if analysis.tables:
        raise UserError(
            f"{path} is an analysis: its tables are there",
            f"analyse its captures again, or leave {argument('tables')} out",
            usage=True,
        )
    return replace(result, names=analysis.names)


def select(
    trace: Trace,
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
    return selection.select(trace, wanted(hosts, ports, since, until))


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
