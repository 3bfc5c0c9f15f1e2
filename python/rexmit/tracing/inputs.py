"""What an analysis reads, opened: its stream, what its trace says of it, and how it is ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rexmit.interrupt import spared
from rexmit.progress import Progress
from rexmit.sources import STDIN, Capture, packed
from rexmit.sources.capture import has_identity, identity, whole_name
from rexmit.tracing.changed import AS_READ
from rexmit.tracing.options import Analysis
from rexmit.tracing.points.recognise import recognise
from rexmit.tracing.source import Batch, Core, Facts, Stream, check_cells, check_there


class FirstSignal:
    """Spares the first of some signals, which asks that what is read may end; the next one is an
    interrupt. `says` is what is said then, `at` when it came.
    """

    def __init__(self, numbers: Sequence[int], says: str = "") -> None:
        self._numbers, self._says = numbers, says
        self.at: float | None = None

    def __call__(self, number: int) -> bool:
        if self.at is not None or number not in self._numbers:
            return False
        self.at = time.monotonic()
        if self._says:
            # A line may be half written on standard error when the signal comes.
            with suppress(OSError):
                os.write(2, f"rexmit: {self._says}; Ctrl-C again to give up\n".encode())
        return True


def left_to_pipe(captures: Sequence[Capture]) -> FirstSignal:
    """The first Ctrl-C where a pipe is read: it is left to the program that writes the pipe.

    In `tcpdump -w - | rexmit trace -` the terminal sends Ctrl-C to both, and tcpdump then ends the
    pipe.
    """
    is_pipe = any(str(path) == STDIN for path in captures)
    return FirstSignal([signal.SIGINT] if is_pipe else [], "waiting for the pipe to end")


Reads = TypeVar("Reads", bound=Stream, covariant=True)


@dataclass
class Read(Generic[Reads]):
    """`about` is what trace.json says of what is read, `words` the command that repeats it, without
    `rexmit` and its options. Every `looks_s` seconds the loop looks at signals, where rows do not
    come before; after the first one `end` is called with the seconds since. `warnings` are to be
    known before anything is read.
    """

    stream: Reads
    about: dict[str, object]
    words: list[str]
    first: FirstSignal
    end: Callable[[float], object] = lambda _: None
    looks_s: float | None = None
    warnings: Sequence[str] = field(default=())


@contextmanager
def files(
    captures: Sequence[Capture],
    analysis: Analysis,
    progress: Progress,
    missing: Sequence[str],
) -> Iterator[Read[Stream]]:
    """Files, of one point or of several; files of one point are one stream. `missing` has a line
    for each that is not there.
    """
    first = left_to_pipe(captures)
    with spared(first):
        check_there(captures)
        check_cells(captures)
        words = ["trace", *map(str, captures), *packed.words()]
        about: dict[str, object] = {
            "captures": [str(path) for path in captures],
            "files": [whole_name(path) for path in captures if str(path) != STDIN],
            AS_READ: [identity(one) for one in captures if has_identity(one)],
        }
        progress.start(None)
        try:
            stream: Stream
            several = recognise(captures, analysis.points, progress, analysis.capture_filter)
            if several is None:
                stream = Core(captures, analysis)
            else:
                from rexmit.tracing.points.analyse import analyse

                analysed = analyse(several, analysis, progress)
                stream = _Done(
                    {**analysed.combined.tables, **analysed.combined.ways}, analysed.facts
                )
                about["points"] = analysed.about
                words += ["--points", ",".join(several.names())]
            yield Read(stream, about, words, first, warnings=missing)
        finally:
            progress.close()


@dataclass
class _Done:
    """The stream of what was analysed already."""

    rows: Batch | None
    read: Facts

    def next_batch(self, _within_s: float | None) -> Batch | None:
        """All rows at once."""
        rows, self.rows = self.rows, None
        return rows

    def progress(self) -> int:
        """Nothing more is read."""
        return 0

    def facts(self) -> Facts:
        """What was read."""
        return self.read
