"""From captures to a folder of tables, with progress and without holding the capture in memory."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rexmit.interrupt import spared
from rexmit.progress import Progress, Silent
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.source import CONNECTIONS_LIMIT, STDIN, open_source
from rexmit.version import version


def run(
    captures: Sequence[Path],
    folder: Path,
    *,
    csv: bool = False,
    passing: bool = False,
    whatif: Sequence[str] = ("default",),
    stacks: Sequence[str] = (),
    jobs: int | None = None,
    connections_limit: int = CONNECTIONS_LIMIT,
    progress: Progress | None = None,
) -> Trace:
    """Analyses the files as one stream and writes the folder, whole or not at all; `passing` says
    that it is not to be kept.
    """

    began = time.monotonic()
    pipe = any(str(path) == STDIN for path in captures)
    with Writer(folder, passing=passing) as writer, spared(_PipesOwn(pipe)):
        source = open_source(
            captures,
            whatif=whatif,
            stacks=stacks,
            jobs=jobs,
            connections_limit=connections_limit,
        )
        told, done = progress or Silent(), 0
        told.start(None)
        try:
            for batch in source.batches():
                writer.add(batch)
                now = source.progress()
                told.advance(now - done)
                done = now
        finally:
            told.close()
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
