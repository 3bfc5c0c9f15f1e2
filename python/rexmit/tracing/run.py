"""The loop of every analysis, of files, a pipe or an interface: rows come out of what is read, and
go into a folder, or into one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Generic, Self, TypeVar

from rexmit import escaping
from rexmit.progress import Progress, Silent
from rexmit.sources import Capture
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.inputs import Read, files
from rexmit.tracing.options import Analysis
from rexmit.tracing.source import Batch, Facts, Stream
from rexmit.version import version

Reads = TypeVar("Reads", bound=Stream)


class Destination(Generic[Reads]):
    """Where rows go: into one folder, whole or not at all."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.began = time.time()
        """When the folder was begun, by the wall clock."""

    @classmethod
    @contextmanager
    def opened(cls, folder: Path, analysis: Analysis, *, passing: bool) -> Iterator[Self]:
        """`passing` says that the folder is not to be kept."""
        place = cls(analysis)
        with Writer(
            folder, passing=passing, replace=analysis.replace, tables=analysis.tables
        ) as place.writer:
            yield place

    writer: Writer

    def next(self) -> AbstractContextManager[Writer]:
        """The next folder."""
        return nullcontext(self.writer)

    def add(self, writer: Writer, batch: Batch) -> None:
        """Keeps the rows of a batch."""
        writer.add(batch)

    def is_full(self, _writer: Writer) -> bool:
        """Whether the next rows go into another folder."""
        return False

    def facts(self, read: Read[Reads], *, last: bool) -> Facts | None:
        """What was read for this folder, which is the last; None where there was nothing."""
        assert last  # noqa: S101 - it is never full
        facts = read.stream.facts()
        return replace(facts, warnings=[*read.warnings, *facts.warnings])

    def finish(self, writer: Writer, read: Read[Reads], facts: Facts, **about: object) -> Trace:
        """Writes the folder. `about` is what else its trace.json says."""
        words = ["rexmit", *read.words]
        if self.analysis.capture_filter is not None:
            words += ["--filter", self.analysis.capture_filter]
        meta = {
            "rexmit": version(),
            **read.about,
            "command": escaping.shell(words),
            "wall_s": round(time.time() - self.began, 3),
            **about,
        }
        return writer.finish(facts, meta, csv=self.analysis.csv)


def go_through(
    source: AbstractContextManager[Read[Reads]],
    place: AbstractContextManager[Destination[Reads]],
    hear: Callable[[Read[Reads], Batch], object],
) -> Trace | None:
    """Reads to the end, and gives the trace of the last folder. `hear` is called with every batch,
    and with an empty one where none came in time.
    """
    trace, more = None, True
    with place as folders, source as read:
        while more:
            with folders.next() as writer:
                while more and not folders.is_full(writer):
                    if read.first.at is not None:
                        read.end(time.monotonic() - read.first.at)
                    batch = read.stream.next_batch(read.looks_s)
                    more = batch is not None
                    if batch:
                        folders.add(writer, batch)
                    hear(read, batch or {})
                facts = folders.facts(read, last=not more)
                if facts is None:
                    writer.leave()
                else:
                    trace = folders.finish(writer, read, facts)
    return trace


def run(
    captures: Sequence[Capture],
    folder: Path,
    analysis: Analysis,
    *,
    passing: bool = False,
    progress: Progress | None = None,
    missing: Sequence[str] = (),
) -> Trace:
    """Analyses the files and writes the folder, whole or not at all. `missing` has a line for each
    capture that is not there. Raises UserError.
    """
    hearer, done = progress or Silent(), 0

    def hear(read: Read[Stream], _: Batch) -> None:
        nonlocal done
        now = read.stream.progress()
        hearer.advance(now - done)
        done = now

    source = files(captures, analysis, hearer, missing)
    trace = go_through(source, Destination.opened(folder, analysis, passing=passing), hear)
    assert trace is not None  # noqa: S101 - one folder is written in any case
    return trace
