"""How a campaign shows itself while it runs: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final, Protocol, TextIO

LINE_EVERY_S: Final = 10.0
"""Real seconds between two plain lines."""


class Progress(Protocol):
    """What the scheduler tells."""

    def start(self, total: int, done: int) -> None:
        """`done` of `total` transfers are there from before."""
        ...

    def advance(self, transfers: int) -> None:
        """So many more transfers are done (fewer, when negative: they did not count)."""
        ...

    def failed(self, label: str, message: str) -> None:
        """A cell failed. Only the first with a message is shown; all are counted."""
        ...

    def note(self, text: str) -> None:
        """Something that a reader of the results should know."""
        ...

    def close(self) -> None:
        """Nothing more will be told."""
        ...


class Meter:
    """Rate and estimate, from the transfers done since the start."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self.total = 0
        self.done = 0
        self._before = 0
        self.failures = 0
        self._messages: set[str] = set()

    def start(self, total: int, done: int) -> None:
        """Begin to measure."""
        self.total, self.done, self._before = total, done, done
        self._began = self._clock()

    def failed(self, message: str) -> bool:
        """Count a failed cell; true if no other failed with this message."""
        self.failures += 1
        fresh = message not in self._messages
        self._messages.add(message)
        return fresh

    @property
    def rate(self) -> float:
        """Transfers a real second."""
        return (self.done - self._before) / max(self._clock() - self._began, 1e-6)

    def text(self) -> str:
        """Done, all, rate, estimate, failures."""
        parts = [f"{self.done:,} of {self.total:,} transfers", f"{self.rate:,.0f}/s"]
        if 0 < self.done < self.total and self.rate > 0:
            parts.append(f"{duration_text((self.total - self.done) / self.rate)} left")
        if self.failures:
            parts.append(f"{self.failures} cell{'s' if self.failures > 1 else ''} failed")
        return ", ".join(parts)


def duration_text(seconds: float) -> str:
    """Seconds as a person says them: "42 s", "3 min 5 s", "2 h 10 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Silent:
    """Nothing, for a campaign that is a part of something larger."""

    def start(self, total: int, done: int) -> None:
        """See Progress."""

    def advance(self, transfers: int) -> None:
        """See Progress."""

    def failed(self, label: str, message: str) -> None:
        """See Progress."""

    def note(self, text: str) -> None:
        """See Progress."""

    def close(self) -> None:
        """See Progress."""


class PlainProgress:
    """Lines of text: at the start, every ten seconds, for a new kind of failure, at the end."""

    def __init__(
        self, stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._meter = Meter(clock)
        self._last = clock()

    def _say(self, text: str) -> None:
        print(f"rexmit: {text}", file=self._stream, flush=True)

    def start(self, total: int, done: int) -> None:
        """See Progress."""
        self._meter.start(total, done)
        before = f", {done:,} of them done before" if done else ""
        self._say(f"{total:,} transfers{before}")
        self._last = self._clock()

    def advance(self, transfers: int) -> None:
        """See Progress."""
        self._meter.done += transfers
        if self._clock() - self._last >= LINE_EVERY_S:
            self._last = self._clock()
            self._say(self._meter.text())

    def failed(self, label: str, message: str) -> None:
        """See Progress."""
        if self._meter.failed(message):
            self._say(f"cell {label} failed: {message}")

    def note(self, text: str) -> None:
        """See Progress."""
        self._say(text)

    def close(self) -> None:
        """See Progress."""
        self._say(self._meter.text())


class BarProgress:
    """A bar by Rich, with rate, estimate and failures; notes and failures stand above it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._meter = Meter(time.monotonic)
        self._console = Console(stderr=True, highlight=False)
        self._bar = Bar(
            BarColumn(), TextColumn("{task.fields[text]}", markup=False), console=self._console
        )
        self._task = self._bar.add_task("", text="booting")

    def _update(self) -> None:
        self._bar.update(self._task, completed=self._meter.done, text=self._meter.text())

    def start(self, total: int, done: int) -> None:
        """See Progress."""
        self._meter.start(total, done)
        self._bar.update(self._task, total=total)
        self._bar.start()
        self._update()

    def advance(self, transfers: int) -> None:
        """See Progress."""
        self._meter.done += transfers
        self._update()

    def failed(self, label: str, message: str) -> None:
        """See Progress."""
        if self._meter.failed(message):
            self._console.print(f"cell {label} failed: {message}", markup=False)
        self._update()

    def note(self, text: str) -> None:
        """See Progress."""
        self._console.print(text, markup=False)

    def close(self) -> None:
        """See Progress."""
        self._update()
        self._bar.stop()


def for_stream(stream: TextIO) -> Progress:
    """The bar on a terminal that can show it, plain lines elsewhere."""
    import os

    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return BarProgress()
    return PlainProgress(stream)
