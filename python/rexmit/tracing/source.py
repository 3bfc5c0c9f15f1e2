"""The analysis as a stream: batches of rows as frames, and what is to be known of the capture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import polars as pl

from rexmit.errors import UserError, argument
from rexmit.store.schema import Column, polars_schema
from rexmit.store.trace_schema import TABLES

if TYPE_CHECKING:
    from rexmit import _core

STDIN: Final = "-"
"""The name of standard input."""

CONNECTIONS_LIMIT: Final = 2_000_000
"""Connections remembered at a time."""

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
class Facts:
    """What was read. `not_understood` counts packets by why they were left out, `evicted`
    connections that made room for others and `evicted_openings` of them that had hardly more than a
    first packet, `warnings` are sentences (a capture that ends within a
    packet, a clock that steps back), `settings` those under which the connections were replayed,
    `stacks` the emulated ones, `files` what each of the captures held.
    """

    packets: int = 0
    tcp_packets: int = 0
    bytes: int = 0
    not_understood: Mapping[str, int] = field(default_factory=dict)
    evicted: int = 0
    evicted_openings: int = 0
    warnings: Sequence[str] = ()
    settings: Sequence[str] = ()
    stacks: Sequence[str] = ()
    files: Sequence[File] = ()


class Source(Protocol):
    """An analysis at work."""

    def batches(self) -> Iterator[Batch]:
        """The rows as they come out."""

    def progress(self) -> int:
        """Packets read so far."""

    def facts(self) -> Facts:
        """What was read, at the end."""


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


def check_there(captures: Sequence[Path]) -> None:
    """Raises UserError for a file that is not there."""
    for path in captures:
        if str(path) != STDIN and not path.exists():
            raise UserError(f"{path}: there is no such file", "give captures, or - for a pipe")


def chosen(stacks: Sequence[str]) -> list[str]:
    """The pages of the emulations that words choose. Raises UserError."""
    from rexmit import _core

    try:
        return list(_core.emulations(list(stacks)))
    except ValueError as error:
        raise UserError(f"{argument('stacks')}: {error}", usage=True) from error


def open_source(
    captures: Sequence[Path],
    *,
    whatif: Sequence[str] = ("default",),
    stacks: Sequence[str] = (),
    jobs: int | None = None,
    connections_limit: int = CONNECTIONS_LIMIT,
    uncalibrated: bool = False,
) -> Source:
    """The analysis of the files as one stream, in time order; `-` is standard input. `whatif` names
    the settings under which connections are replayed, `stacks` the emulations that take part (all
    without any). More than `connections_limit` open at a time
    are not remembered: those unused for longest are ended early, such as have only begun before
    others. `uncalibrated` leaves confidences as the emulations give them.

    Raises UserError where a file is not there or cannot be opened, or there is no such setting or
    emulation.
    """
    from rexmit import _core

    check_there(captures)
    chosen(stacks)
    try:
        trace = _core.Trace(
            captures,
            jobs=jobs,
            whatif=list(whatif) or False,
            most_connections=connections_limit,
            uncalibrated=uncalibrated,
            stacks=list(stacks),
        )
    except OSError as error:
        raise UserError(f"cannot be read: {error}", "give captures, or - for a pipe") from error
    except ValueError as error:
        raise UserError(f"{argument('whatif')}: {error}", usage=True) from error
    return _Core(trace, captures)


class _Core:
    """The analysis of `rexmit._core`."""

    def __init__(self, trace: _core.Trace, captures: Sequence[Path]) -> None:
        self._trace = trace
        self._captures = captures

    def batches(self) -> Iterator[Batch]:
        while True:
            try:
                tables = self._trace.next_batch()
            except ValueError as error:
                raise UserError(str(error)) from error
            if tables is None:
                return
            yield {name: pl.DataFrame(rows) for name, rows in tables.items()}

    def progress(self) -> int:
        return self._trace.progress()[1]

    def facts(self) -> Facts:
        told = self._trace.summary()
        return Facts(
            packets=told["packets"],
            tcp_packets=told["tcp_packets"],
            bytes=told["bytes"],
            not_understood=told["skipped"],
            evicted=told["evicted"],
            evicted_openings=told["evicted_openings"],
            warnings=told["warnings"],
            settings=told.get("settings", []),
            stacks=told.get("stacks", []),
            files=tuple(
                File(
                    str(path), packets, *((time / 1e9 for time in times) if times else (None, None))
                )
                for path, (packets, times) in zip(self._captures, told["files"], strict=True)
            ),
        )
