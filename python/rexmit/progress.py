"""How long work shows itself: a bar on a terminal, plain lines elsewhere, calls to a program."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Final, Protocol, TextIO

from rexmit import escaping, outputs
from rexmit.values import dataclass
from rexmit.wording import duration

LINE_EVERY_S: Final = 10.0
"""Real seconds between two plain lines; with --verbose it is one."""


class Progress(Protocol):
    """What long work reports. It counts things of one unit: transfers, cases, packets."""

    def start(self, total: int | None, done: int = 0) -> None:
        """`done` of `total` are there from before; None: nobody knows how many there will be. A
        total that turns out too small grows.
        """
        ...

    def advance(self, more: int) -> None:
        """So many more are done (fewer, when negative: they did not count)."""
        ...

    def failed(self, label: str, message: str) -> None:
        """A cell or a case failed. Only the first with a message is shown; all are counted."""
        ...

    def note(self, text: str) -> None:
        """Something that a reader of the results should know."""
        ...

    def close(self) -> None:
        """Nothing more will be told."""
        ...


class Meter:
    """Rate and estimate, from what was done since the start."""

    def __init__(self, unit: str, clock: Callable[[], float]) -> None:
        self.unit = unit
        self._clock = clock
        self._began = clock()
        self.total: int | None = 0
        self.done = 0
        self._before = 0
        self.failures = 0
        self._messages: set[str] = set()

    def start(self, total: int | None, done: int) -> None:
        """Begin to measure."""
        self.total, self.done, self._before = total, done, done
        self._began = self._clock()

    def advance(self, more: int) -> None:
        """So many more are done."""
        self.done += more
        if self.total is not None:
            self.total = max(self.total, self.done)

    def failed(self, message: str) -> bool:
        """Count a failure; true if no other failed with this message."""
        self.failures += 1
        fresh = message not in self._messages
        self._messages.add(message)
        return fresh

    @property
    def rate(self) -> float:
        """So many a real second."""
        return (self.done - self._before) / max(self._clock() - self._began, 1e-6)

    @property
    def pace(self) -> str:
        """So many a second; of what takes longer, the seconds of each."""
        if 0 < self.rate < 1:
            return f"{duration(1 / self.rate)} each"
        return f"{self.rate:,.0f}/s"

    def text(self) -> str:
        """Done, all, pace, estimate, failures."""
        if self.total is None:
            return f"{self.done:,} {self.unit}, {self.pace}"
        parts = [f"{self.done:,} of {self.total:,} {self.unit}", self.pace]
        if 0 < self.done < self.total and self.rate > 0:
            parts.append(f"{duration((self.total - self.done) / self.rate)} left")
        if self.failures:
            parts.append(f"{self.failures} cell{'s' if self.failures > 1 else ''} failed")
        return ", ".join(parts)


class Silent:
    """Nothing, for work that is a part of something larger."""

    def start(self, total: int | None, done: int = 0) -> None:
        """See Progress."""

    def advance(self, more: int) -> None:
        """See Progress."""

    def failed(self, label: str, message: str) -> None:
        """See Progress."""

    def note(self, text: str) -> None:
        """See Progress."""

    def close(self) -> None:
        """See Progress."""


class Quiet(Silent):
    """Nothing but what went wrong, each kind once, and what a reader of the results should know."""

    def __init__(self) -> None:
        self._messages: set[str] = set()

    def failed(self, label: str, message: str) -> None:
        """See Progress."""
        if message not in self._messages:
            self._messages.add(message)
            outputs.say(f"rexmit: cell {label} failed: {message}")

    def note(self, text: str) -> None:
        """See Progress."""
        outputs.say(f"rexmit: {text}")


class PlainProgress:
    """Lines of text: at the start where the total is known, every ten seconds (each second with
    --verbose), for a new kind of failure, at the end.
    """

    def __init__(
        self,
        unit: str,
        stream: TextIO | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._meter = Meter(unit, clock)
        self._last = clock()
        self._said = self._started = False

    def _say(self, text: str) -> None:
        self._said = True
        print(f"rexmit: {escaping.shown(text)}", file=self._stream, flush=True)

    def start(self, total: int | None, done: int = 0) -> None:
        """See Progress."""
        self._started = True
        self._meter.start(total, done)
        before = f", {done:,} of them done before" if done else ""
        if total is not None:
            self._say(f"{total:,} {self._meter.unit}{before}")
        self._last = self._clock()

    def advance(self, more: int) -> None:
        """See Progress."""
        self._meter.advance(more)
        every_s = 1.0 if outputs.level == outputs.Level.VERBOSE else LINE_EVERY_S
        if self._clock() - self._last >= every_s:
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
        # Of what was over before there was anything to say, or to count, nothing is said.
        if self._said and self._started:
            self._say(self._meter.text())


class BarProgress:
    """A bar by Rich, with rate, estimate and failures; notes and failures stand above it."""

    def __init__(self, unit: str, *, transient: bool = False) -> None:
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._meter = Meter(unit, time.monotonic)
        self._console = outputs.console(stderr=True)
        self._bar = Bar(
            BarColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            console=self._console,
            transient=transient,
        )
        self._task = self._bar.add_task("", text="booting")

    def _update(self) -> None:
        meter = self._meter
        self._bar.update(self._task, completed=meter.done, total=meter.total, text=meter.text())

    def start(self, total: int | None, done: int = 0) -> None:
        """See Progress."""
        self._meter.start(total, done)
        self._bar.start()
        self._update()

    def advance(self, more: int) -> None:
        """See Progress."""
        self._meter.advance(more)
        self._update()

    def failed(self, label: str, message: str) -> None:
        """See Progress."""
        if self._meter.failed(message):
            self._console.print(f"cell {label} failed: {message}")
        self._update()

    def note(self, text: str) -> None:
        """See Progress."""
        self._console.print(text)

    def close(self) -> None:
        """See Progress."""
        self._update()
        self._bar.stop()


@dataclass(frozen=True)
class Step:
    """How far long work is, as a program hears it."""

    done: int
    total: int | None  #: None where nobody knows
    unit: str  #: what is counted: transfers, cases, packets
    note: str | None = None  #: something that a reader of the results should know


class Calls:
    """Calls a function with each step."""

    def __init__(self, unit: str, hear: Callable[[Step], object]) -> None:
        self._unit, self._hear = unit, hear
        self._total: int | None = None
        self._done = 0

    def _say(self, note: str | None = None) -> None:
        self._hear(Step(self._done, self._total, self._unit, note))

    def start(self, total: int | None, done: int = 0) -> None:
        """See Progress."""
        self._total, self._done = total, done
        self._say()

    def advance(self, more: int) -> None:
        """See Progress."""
        self._done += more
        if self._total is not None:
            self._total = max(self._total, self._done)
        self._say()

    def failed(self, label: str, message: str) -> None:
        """See Progress."""
        self._say(f"{label} failed: {message}")

    def note(self, text: str) -> None:
        """See Progress."""
        self._say(text)

    def close(self) -> None:
        """See Progress."""


def for_stream(stream: TextIO, unit: str, *, transient: bool = False) -> Progress:
    """The bar on a terminal that can show it, plain lines elsewhere; with --quiet nothing but what
    failed. A `transient` bar goes when the work is done.
    """
    if outputs.level == outputs.Level.QUIET:
        return Quiet()
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return BarProgress(unit, transient=transient)
    return PlainProgress(unit, stream)


Hear = Callable[[Step], object] | Progress | None
"""How a caller of the library hears of long work: a function that is called with each step, or
something that shows it; or not at all."""


def heard(hear: Hear, unit: str) -> Progress:
    """What long work reports to."""
    if hear is None:
        return Silent()
    return Calls(unit, hear) if callable(hear) else hear
