"""The analysis as a stream: batches of rows as frames, and what is to be known of the capture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import polars as pl

from rexmit.errors import UserError
from rexmit.sources import STDIN, Capture
from rexmit.store.schema import Column, polars_schema
from rexmit.store.trace_schema import TABLES
from rexmit.tracing.options import Analysis
from rexmit.values import dataclass
from rexmit.whatif.settings import named

if TYPE_CHECKING:
    from rexmit import _core

Batch = Mapping[str, pl.DataFrame]
"""Rows by the table's name, in the columns of `trace_schema`."""


@dataclass(frozen=True)
class File:
    """One capture file: its packets (all, not TCP alone) and their first and last time stamp, None
    without packets.
    """

    path: str
    packets: int
    first_s: float | None
    last_s: float | None


@dataclass(frozen=True)
class Failure:
    """A connection that was left out, since its analysis failed: when its first packet came,
    seconds since 1970, its ends, and where in this program the defect is.
    """

    start_s: float
    client: str
    client_port: int
    server: str
    server_port: int
    defect: str


@dataclass(frozen=True)
class Lookup:
    """A name that `asker` looked up by DNS over UDP, the first of its `questions` at `start_s`,
    seconds since 1970: `waited_s` until all were answered by `server`, or until it asked no more.
    The name is foreign text; none where the capture cut it off.
    """

    asker: str
    server: str
    name: str | None
    start_s: float
    waited_s: float
    questions: int
    answered: bool


@dataclass(frozen=True)
class Facts:
    """What was read. `not_understood` counts packets by why they were left out, `evicted`
    connections that made room for others and `evicted_openings` of them that had hardly more than a
    first packet, `failed` connections that were left out since their analysis failed, `failures`
    the latest of them, `failed_packets` the packets at which they failed and that came of them
    later, `lookups` has the names that took longest to look up, `warnings` are sentences (a capture
    that ends within a packet, a clock that steps back), `settings` those under which the
    connections were replayed, `stacks` the emulated ones, `files` what each of the captures held.
    """

    packets: int = 0
    tcp_packets: int = 0
    bytes: int = 0
    cut_packets: int = 0
    """Packets of which the capture has not all bytes."""
    not_understood: Mapping[str, int] = field(default_factory=dict)
    evicted: int = 0
    evicted_openings: int = 0
    failed: int = 0
    failed_packets: int = 0
    failures: Sequence[Failure] = ()
    lookups: Sequence[Lookup] = ()
    warnings: Sequence[str] = ()
    settings: Sequence[str] = ()
    stacks: Sequence[str] = ()
    files: Sequence[File] = ()
    capture_filter: str = ""
    """The expression that packets had to pass to be analysed; empty where all were."""
    left_out: int = 0
    """Packets that did not pass it."""
    named: Sequence[str] = ()
    """Those of the settings that were asked for by name."""


def together(each: Sequence[Facts], name: str) -> Facts:
    """What was read in pieces that follow each other of one capture, which is called `name`."""
    not_understood: Counter[str] = Counter()
    for one in each:
        not_understood.update(one.not_understood)
    files = [file for one in each for file in one.files]
    packets = sum(one.packets for one in each)
    first_s = min((file.first_s for file in files if file.first_s is not None), default=None)
    last_s = max((file.last_s for file in files if file.last_s is not None), default=None)
    return Facts(
        packets=packets,
        tcp_packets=sum(one.tcp_packets for one in each),
        bytes=sum(one.bytes for one in each),
        cut_packets=sum(one.cut_packets for one in each),
        not_understood=dict(not_understood),
        evicted=sum(one.evicted for one in each),
        evicted_openings=sum(one.evicted_openings for one in each),
        failed=sum(one.failed for one in each),
        failed_packets=sum(one.failed_packets for one in each),
        failures=tuple(failure for one in each for failure in one.failures),
        lookups=tuple(lookup for one in each for lookup in one.lookups),
        warnings=tuple(dict.fromkeys(warning for one in each for warning in one.warnings)),
        settings=tuple(dict.fromkeys(name for one in each for name in one.settings)),
        named=tuple(dict.fromkeys(name for one in each for name in one.named)),
        stacks=tuple(dict.fromkeys(name for one in each for name in one.stacks)),
        files=(File(name, packets, first_s, last_s),),
        capture_filter=next((one.capture_filter for one in each if one.capture_filter), ""),
        left_out=sum(one.left_out for one in each),
    )


class Stream(Protocol):
    """An analysis at work."""

    def next_batch(self, within_s: float | None) -> Batch | None:
        """The rows that came out, after so many seconds at most; no tables where there are none,
        None when there will be no more.
        """

    def progress(self) -> int:
        """Packets read so far."""

    def facts(self) -> Facts:
        """What was read, at the end."""


class Pace(NamedTuple):
    """When rows of something that may have no end come out: by the capture's clock connections that
    are over end every `stretch_s` seconds, and their rows wait at most about `wait_s` more for what
    other connections of their hosts show.
    """

    stretch_s: float
    wait_s: float


def batches(stream: Stream, hear: Callable[[int], object] | None = None) -> Iterator[Batch]:
    """All rows of a stream that ends, as they come out. `hear` is told how many packets more were
    read.
    """
    done = 0
    while (batch := stream.next_batch(None)) is not None:
        yield batch
        if hear is not None:
            now = stream.progress()
            hear(now - done)
            done = now


def conformed(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    """The columns of a table in their order and types; those that may be null and are missing are.

    Raises ValueError where one is missing that may not be null.
    """
    columns: tuple[Column, ...] = TABLES[name]
    types = polars_schema(columns)
    if list(rows.schema.items()) == list(types.items()):
        return rows
    missing = [c.name for c in columns if c.name not in rows.columns and not c.nullable]
    if missing:
        raise ValueError(f"{name}: column {', '.join(missing)} is missing")
    return rows.select(
        pl.col(name).cast(kind) if name in rows.columns else pl.lit(None, dtype=kind).alias(name)
        for name, kind in types.items()
    )


def empty(name: str) -> pl.DataFrame:
    """A table without rows."""
    return pl.DataFrame(schema=polars_schema(TABLES[name]))


def check_there(captures: Sequence[Capture]) -> None:
    """Raises UserError for a file that is not there."""
    for path in captures:
        if isinstance(path, Path) and str(path) != STDIN and not path.exists():
            raise UserError(f"{path}: there is no such file", "give captures, or - for a pipe")


_OF_RUN: Final = re.compile(r"([0-9]+)-[0-9]+\.h[12]\.pcapng")
"""What `rexmit run --capture` calls the captures of a cell."""


def check_cells(captures: Sequence[Capture]) -> None:
    """Raises UserError for captures of several cells: each has a clock that begins anew and the
    ports of the others, so that connections of two cells would be taken for one."""
    cells: dict[tuple[Path, str], None] = {}
    for path in captures:
        match = _OF_RUN.fullmatch(path.name) if isinstance(path, Path) else None
        if match and isinstance(path, Path) and (path.parent.parent / "run.json").is_file():
            cells[path.parent, match[1]] = None
    if len(cells) > 1:
        folder, cell = next(iter(cells))
        raise UserError(
            f"these captures are of {len(cells)} cells of runs, whose clocks and ports are the "
            "same: their connections cannot be told apart",
            f"give those of one cell: {folder}/{cell}-*.h1.pcapng",
        )


class Core:
    """The analysis of `rexmit._core`: of files as one stream, in time order; `-` is standard input.

    `uncalibrated` leaves confidences as the emulations give them; with `timeline` the account of
    time has its stretches, one after the other. Without a `pace` connections that
    are over, and their rows, wait for the end. Raises UserError where a file is not there or cannot
    be opened.
    """

    def __init__(
        self,
        captures: Sequence[Capture],
        analysis: Analysis,
        *,
        uncalibrated: bool = False,
        timeline: bool = False,
        pace: Pace | None = None,
    ) -> None:
        from rexmit import _core

        check_there(captures)
        self._captures, self._analysis = captures, analysis
        self.name = ", ".join(map(str, captures))
        try:
            self._trace = _core.Trace(
                captures,
                jobs=analysis.jobs,
                filter=analysis.capture_filter,
                **analysis.of_core(),
                uncalibrated=uncalibrated,
                timeline=timeline,
                stretch_s=None if pace is None else pace.stretch_s,
                wait_s=None if pace is None else pace.wait_s,
            )
        except OSError as error:
            raise UserError(f"cannot be read: {error}", "give captures, or - for a pipe") from error

    def next_batch(self, within_s: float | None) -> Batch | None:
        """As `Stream` has it. Raises UserError for what is no capture."""
        try:
            tables = self._trace.next_batch(within_s, tables=self._analysis.tables)
        except ValueError as error:
            raise UserError(str(error)) from error
        return None if tables is None else from_batch(tables)

    def progress(self) -> int:
        """Packets read so far."""
        return self._trace.progress()[1]

    def stop(self, *, now: bool) -> None:
        """Ends what is read, once nothing waits there or `now`; what was read is worked through."""
        self._trace.stop(now)

    def so_far(self) -> Mapping[str, Any]:
        """What was counted, as `_core.Trace.summary` has it."""
        return self._trace.so_far()

    def facts(self) -> Facts:
        """What was read, at the end."""
        summary = self._trace.summary()
        return replace(
            facts_of(summary, self._captures),
            capture_filter=self._analysis.capture_filter or "",
            left_out=summary["left_out"],
            named=named(self._analysis.whatif),
        )


def from_batch(tables: Mapping[str, _core.Batch]) -> Batch:
    """A batch of the core as frames."""
    return {name: pl.DataFrame(rows) for name, rows in tables.items()}


def failures_of(summary: Mapping[str, Any]) -> tuple[Failure, ...]:
    """The connections that the core names as failed."""
    return tuple(Failure(*one) for one in summary["failures"])


def facts_of(summary: Mapping[str, Any], captures: Sequence[Capture]) -> Facts:
    """What the core's summary says of these captures."""
    spans = summary["files"]
    return Facts(
        packets=summary["packets"],
        tcp_packets=summary["tcp_packets"],
        bytes=summary["bytes"],
        cut_packets=summary["cut"],
        not_understood=summary["skipped"],
        evicted=summary["evicted"],
        evicted_openings=summary["evicted_openings"],
        failed=summary["failed"],
        failed_packets=summary["failed_packets"],
        failures=failures_of(summary),
        lookups=tuple(Lookup(*one) for one in summary["lookups"]),
        warnings=summary["warnings"],
        settings=summary.get("settings", []),
        stacks=summary.get("stacks", []),
        files=tuple(
            File(str(path), packets, *((time / 1e9 for time in times) if times else (None, None)))
            for path, (packets, times) in zip(captures, spans, strict=True)
        ),
    )
