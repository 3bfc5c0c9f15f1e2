"""From captures to a folder of tables, with progress and without holding the capture in memory."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rexmit.interrupt import spared
from rexmit.trace.folder import Trace, Writer
from rexmit.trace.source import CONNECTIONS_LIMIT, STDIN, Source, open_source
from rexmit.version import version
from rexmit.wording import count

_TELL_EVERY_S: Final = 5.0
"""Seconds between two lines of progress where no terminal shows a moving one."""


def run(
    captures: Sequence[Path],
    folder: Path,
    *,
    csv: bool = False,
    passing: bool = False,
    whatif: Sequence[str] = ("default",),
    jobs: int | None = None,
    connections_limit: int = CONNECTIONS_LIMIT,
) -> Trace:
    """Analyses the files as one stream and writes the folder, whole or not at all; `passing` says
    that it is not to be kept.
    """

    began = time.monotonic()
    pipe = any(str(path) == STDIN for path in captures)
    with Writer(folder, passing=passing) as writer, spared(_PipesOwn(pipe)):
        source = open_source(
            captures, whatif=whatif, jobs=jobs, connections_limit=connections_limit
        )
        tell = Teller(source)
        try:
            for batch in source.batches():
                writer.add(batch)
                tell()
        finally:
            tell.close()
        meta = {
            "rexmit": version(),
            "captures": [str(path) for path in captures],
            "files": [str(path.resolve()) for path in captures if str(path) != STDIN],
            "command": shlex.join(["rexmit", "trace", *map(str, captures)]),
            "wall_s": round(time.monotonic() - began, 3),
        }
        return writer.finish(source.facts(), meta, csv=csv)


class _PipesOwn:
    """The first Ctrl-C where a pipe is read: it is left to the program that writes the pipe.

    In `tcpdump -w - | rexmit trace -` the terminal sends Ctrl-C to both, and tcpdump then ends the
    pipe. The second one counts.
    """

    def __init__(self, pipe: bool) -> None:
        self._left = 1 if pipe else 0

    def __call__(self, number: int) -> bool:
        if number != signal.SIGINT or not self._left:
            return False
        self._left -= 1
        print("rexmit: waiting for the pipe to end; Ctrl-C again to give up", file=sys.stderr)
        return True


class Teller:
    """Tells on stderr how far the analysis is: a line that is written over, or one now and then."""

    def __init__(self, source: Source, clock: Callable[[], float] = time.monotonic) -> None:
        self._source, self._clock = source, clock
        self._began = self._last = clock()
        self._moving = sys.stderr.isatty()
        self._width = 0

    def __call__(self) -> None:
        now = self._clock()
        if now - self._last < (0.2 if self._moving else _TELL_EVERY_S):
            return
        self._last = now
        packets = self._source.progress()
        rate = packets / (now - self._began) if now > self._began else 0.0
        told = f"{count(packets, 'packet')}, {rate:,.0f} a second"
        if self._moving:
            sys.stderr.write(f"\r{told:<{self._width}}")
            self._width = len(told)
        else:
            sys.stderr.write(f"{told}\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Clears the line."""
        if self._moving and self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
