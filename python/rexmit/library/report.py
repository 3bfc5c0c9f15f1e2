"""One self-contained page about runs, traces, what differs and what agrees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit import additions
from rexmit.comparison.compare import Comparison
from rexmit.comparison.traces.compare import TraceComparison
from rexmit.errors import UserError, argument
from rexmit.library.diff import diff
from rexmit.library.opened import open_run
from rexmit.library.trace import trace
from rexmit.options import whole
from rexmit.store.files import whole_file
from rexmit.store.open_run import Run
from rexmit.store.run_json import NAME as RUN
from rexmit.tracing.folder import Trace, is_trace
from rexmit.webpage import commands, of_diff, of_run, of_trace, of_traces
from rexmit.webpage.assemble import assembled
from rexmit.webpage.choose import PACKETS
from rexmit.webpage.filter import fitting, ordered
from rexmit.webpage.part import Part, Shown, Table

if TYPE_CHECKING:
    import polars as pl

    from rexmit.progress import Hear

About = Run | Trace | Comparison | TraceComparison | Shown
"""What a page can be about."""

Things = About | str | PathLike[str] | Iterable[About | str | PathLike[str]]


@dataclass(frozen=True)
class Report:
    """A page that was written: where, how large (bytes), and what it is about, in words.
    `rules` says of each part which connections' packets it has.
    """

    path: Path
    size_bytes: int
    about: tuple[str, ...]
    rules: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Plain data."""
        return {
            "path": str(self.path),
            "size_bytes": self.size_bytes,
            "about": list(self.about),
            "packets": list(self.rules),
        }


def report(
    of: Things,
    out: str | PathLike[str] = "report.html",
    *,
    connections: Sequence[int] | None = None,
    packets: int = PACKETS,
    progress: Hear = None,
) -> Report:
    """Writes a page that shows what was found, to be opened from the disk: one file, which fetches
    nothing.

    `of` is a run, a trace, what `diff` or `agree` gave, or several of these; paths stand for what
    lies there: a run's folder, a trace's, captures (together one trace), a folder of `rexmit
    validate agree`. Two runs are compared, too. `connections` names those whose packets are in the
    page, rows of connections.parquet or of transfers.parquet; without it they are those that waited
    longest, with at most so many `packets` in all.

    Raises UserError for what cannot be read, or written.
    """
    whole("packets", packets, 0, 100_000_000)
    things = [of] if isinstance(of, About | str | PathLike) else list(of)
    if not things:
        raise UserError("there is nothing to report", "give at least one path", usage=True)
    opened = _opened(things, progress)
    if connections is not None and len(opened) > 1:
        raise UserError(
            f"{argument('connections')} are those of one run or trace",
            "report each by itself",
            usage=True,
        )
    parts = _parts(opened, connections, packets)
    path = Path(out)
    title = "; ".join(part.name for part in parts[:2]) + (" …" if len(parts) > 2 else "")
    try:
        with whole_file(path) as file:
            size = sum(
                file.write(piece)
                for piece in assembled(parts, f"rexmit: {title}", _command(parts, path))
            )
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written: {error.strerror or error}", "name another file"
        ) from error
    return Report(
        path,
        size,
        tuple(f"{part.kind} {part.name}" for part in parts),
        tuple(part.rule for part in parts),
    )


def report_table(
    of: Things,
    table: str,
    *,
    where: str | None = None,
    sort: str | None = None,
    packets: int = 0,
    progress: Hear = None,
) -> pl.DataFrame:
    """A table of such a page by its name (connections, retransmissions, hosts, settings, transfers,
    cells, cases, …), the first of that name: the rows that `where` says, in the order of the column
    `sort`, as the page's search field and heads do. Without `sort` they stand as on the page.

    Raises UserError for a name that there is not, and for terms that are none.
    """
    things = [of] if isinstance(of, About | str | PathLike) else list(of)
    parts = _parts(_opened(things, progress), None, packets)
    tables: dict[str, Table] = {}
    for one in (one for part in parts for one in part.tables):
        tables.setdefault(one.name, one)
    if table not in tables:
        raise UserError(
            f"{argument('table')} {table}: the page has no such table",
            f"it has {', '.join(tables)}",
            usage=True,
        )
    rows = fitting(tables[table].frame, where or "")
    by = sort or tables[table].sort
    return ordered(rows, by) if by else rows


def _command(parts: Sequence[Part], path: Path) -> str:
    names = [name for part in parts for name in part.names]
    words = parts[0].written_by
    return commands.command(*words, *names, "-o" if words == ("report",) else "--html", path)


def _opened(things: Sequence[object], progress: Hear) -> list[About]:
    """What each path stands for; captures together are one trace, where the first of them is."""
    opened: list[About] = []
    captures: list[str | PathLike[str]] = []
    at = 0
    for thing in things:
        if isinstance(thing, About):
            opened.append(thing)
            continue
        path = Path(str(thing))
        if path.is_dir() and (other := _of_others(path)) is not None:
            opened.append(other)
        elif path.is_dir() and is_trace(path):
            opened.append(trace(path))
        elif path.is_dir():
            _check_run(path)
            opened.append(open_run(path))
        else:
            at = at if captures else len(opened)
            captures.append(str(thing))
    if captures:
        opened.insert(at, trace(captures, progress=progress))
    runs = [one for one in opened if isinstance(one, Run)]
    if len(runs) == 2 and len(opened) == 2:
        opened.append(diff(*runs))
    return opened


def _of_others(path: Path) -> Shown | None:
    """What the folder holds of another package's."""
    things = (package.open_thing(path) for package in additions.packages())
    return next((thing for thing in things if thing is not None), None)


def _check_run(path: Path) -> None:
    if not any((path / name).exists() for name in (RUN, "transfers.parquet", "partial")):
        raise UserError(
            f"{path}: neither a run, nor a trace, nor a folder of `rexmit validate agree`",
            "give what `rexmit run`, `rexmit trace --out` or `rexmit validate agree` wrote, or a "
            "capture",
        )


def _parts(opened: Sequence[About], connections: Sequence[int] | None, limit: int) -> list[Part]:
    """A comparison's runs are parts before it, with the transfers that it lays beside each
    other."""
    parts: list[Part] = []
    compared = {id(one): of_diff.pairs(one) for one in opened if isinstance(one, Comparison)}
    besides: dict[int, list[int]] = {}
    of_runs = [one for one in opened if isinstance(one, Run)]
    for one in opened:
        if isinstance(one, Comparison):
            for run, numbers in zip((one.a, one.b), compared[id(one)].numbers, strict=True):
                besides.setdefault(id(run), []).extend(numbers)
                if all(run is not other for other in of_runs):
                    of_runs.append(run)
    places: dict[int, int] = {}
    for run in of_runs:
        places[id(run)] = len(parts)
        parts.append(
            of_run.part(run, transfers=connections, limit=limit, besides=besides.get(id(run), ()))
        )
    for one in opened:
        if isinstance(one, Trace):
            parts.append(of_trace.part(one, connections=connections, limit=limit))
        elif isinstance(one, Comparison):
            both = (places[id(one.a)], places[id(one.b)])
            parts.append(of_diff.part(one, compared[id(one)], both))
        elif isinstance(one, TraceComparison):
            parts.append(of_traces.part(one))
            for trace_of in (one.a, one.b):
                traced = of_trace.part(trace_of, connections=None, limit=limit // 2)
                # `diff` makes the page of both.
                parts.append(replace(traced, names=[]))
        elif isinstance(one, Shown):
            parts.append(one.page_part(len(parts)))
    return parts
