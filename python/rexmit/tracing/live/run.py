"""The loop of a live analysis: packets in, rows into a folder, and what was seen so far told."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import replace as with_changes
from pathlib import Path
from typing import Final

from rexmit import escaping
from rexmit.interrupt import spared
from rexmit.tracing.folder import Trace, Writer
from rexmit.tracing.live.capture import capturing
from rexmit.tracing.live.seen import Seen
from rexmit.tracing.options import Analysis
from rexmit.tracing.source import open_stream
from rexmit.version import version

_LOOKS_EVERY_S: Final = 0.25
"""How long the program waits for rows before it looks at clocks and signals."""

_STRETCH_S: Final = 1.0
"""By the capture's clock: how often connections that are over end, and give their rows."""

_HOSTS_S: Final = 5.0
"""By the capture's clock: how long rows wait at most for what other connections of their hosts
show."""


def run(
    interface: str,
    folder: Path,
    analysis: Analysis,
    *,
    passing: bool = False,
    hear: Callable[[Seen], None],
) -> Trace:
    """Analyses what passes an interface until the capture ends, which the first signal makes it do.
    Raises UserError.
    """
    began = time.monotonic()
    seen, signals = Seen(interface), _Signals()
    words = ["rexmit", "trace", "-i", interface]
    with (
        Writer(folder, passing=passing, replace=analysis.replace) as writer,
        capturing(interface, analysis.capture_filter) as program,
        spared(signals),
    ):
        stream = open_stream(
            [program.source],
            # The kernel applies it.
            with_changes(analysis, capture_filter=None),
            stretch_s=_STRETCH_S,
            wait_s=_HOSTS_S,
        )
        failed: Exception | None = None
        while True:
            if signals.came:
                seen.ending = True
                program.ask_to_end()
            try:
                batch = stream.next_batch(_LOOKS_EVERY_S)
            except Exception as error:
                # A program that captures nothing writes nothing, which is no capture.
                failed = error
                break
            if batch is None:
                break
            if batch:
                writer.add(batch)
                seen.came_out(batch)
            seen.tally.read(stream.so_far())
            seen.lasted_s = time.monotonic() - began
            hear(seen)
        program.check(seen.tally.packets)
        if failed is not None:
            raise failed
        facts = with_changes(stream.facts(), capture_filter=analysis.capture_filter or "")
        if analysis.capture_filter:
            words += ["--filter", analysis.capture_filter]
        meta = {
            "rexmit": version(),
            "captures": [interface],
            "files": [],
            "command": escaping.shell(words),
            "wall_s": round(time.monotonic() - began, 3),
        }
        return writer.finish(facts, meta, csv=analysis.csv)


class _Signals:
    """The first signal ends the capture; the next one is an interrupt."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int) -> bool:
        if self.came or number not in (signal.SIGINT, signal.SIGTERM):
            return False
        self.came = True
        return True
