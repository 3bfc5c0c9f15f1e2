"""From captures to a folder of tables, with progress and without holding the capture in memory."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from dataclasses import replace as with_changes
from pathlib import Path

from rexmit import escaping, outputs
from rexmit.interrupt import spared
from rexmit.progress import Progress, Silent
from rexmit.sources import STDIN, Capture, packed
from rexmit.sources.capture import has_identity, identity, whole_name
from rexmit.tracing.changed import AS_READ
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.options import Analysis
from rexmit.tracing.points.analyse import analyse
from rexmit.tracing.points.recognise import recognise
from rexmit.tracing.source import check_there, open_source
from rexmit.version import version


def run(
    captures: Sequence[Capture],
    folder: Path,
    analysis: Analysis,
    *,
    passing: bool = False,
    progress: Progress | None = None,
    missing: Sequence[str] = (),
) -> Trace:
    """Analyses the files and writes the folder, whole or not at all; `passing` says that it is not
    to be kept. Files of one point are one stream. `missing` has a line for each capture that is not
    there.
    """
    began = time.monotonic()
    pipe = any(str(path) == STDIN for path in captures)
    with (
        Writer(folder, passing=passing, replace=analysis.replace) as writer,
        spared(PipesOwn(pipe)),
    ):
        check_there(captures)
        told, done = progress or Silent(), 0
        words = ["rexmit", "trace", *map(str, captures), *packed.words()]
        if analysis.capture_filter is not None:
            words += ["--filter", analysis.capture_filter]
        meta: dict[str, object] = {
            "rexmit": version(),
            "captures": [str(path) for path in captures],
            "files": [whole_name(path) for path in captures if str(path) != STDIN],
            AS_READ: [identity(one) for one in captures if has_identity(one)],
        }
        told.start(None)
        try:
            several = recognise(captures, analysis.points, told, analysis.capture_filter)
            if several is None:
                source = open_source(captures, analysis)
                for batch in source.batches():
                    writer.add(batch)
                    now = source.progress()
                    told.advance(now - done)
                    done = now
                facts = source.facts()
            else:
                made = analyse(several, analysis, told)
                writer.add(made.combined.tables)
                writer.add_points(made.combined.ways)
                facts = made.facts
                meta["points"] = made.about
                words += ["--points", ",".join(several.names())]
        finally:
            told.close()
        facts = with_changes(facts, warnings=[*missing, *facts.warnings])
        meta["command"] = escaping.shell(words)
        meta["wall_s"] = round(time.monotonic() - began, 3)
        return writer.finish(facts, meta, csv=analysis.csv)


class PipesOwn:
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
        outputs.say("rexmit: waiting for the pipe to end; Ctrl-C again to give up")
        return True
