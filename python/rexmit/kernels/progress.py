"""How far a build is: a bar on a terminal, a line now and then elsewhere, calls to a program."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from rexmit.progress import Step

PLAIN_EVERY_S: Final = 20.0


class Stages:
    """A context in which phases are announced and compilation steps counted. This one shows
    nothing.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing more will be told."""

    @property
    def seconds(self) -> float:
        """Real time since the start."""
        return time.monotonic() - self._started

    def phase(self, text: str, total: int | None = None) -> None:
        """Begin a phase of `total` steps, if that is known."""

    def step(self, done: int, total: int) -> None:
        """`done` of about `total` steps of the phase are done."""

    def note(self, text: str) -> None:
        """Something that a user of the kernel should know."""


class HeardStages(Stages):
    """Calls a function with each step; a phase begins with one that has its name as note."""

    def __init__(self, hear: Callable[[Step], object]) -> None:
        super().__init__()
        self._hear = hear
        self._last = Step(0, None, "steps")

    def _say(self, done: int, total: int | None, note: str | None = None) -> None:
        self._last = Step(done, total, "steps", note)
        self._hear(self._last)

    def phase(self, text: str, total: int | None = None) -> None:
        """See Stages."""
        self._say(0, total, text)

    def step(self, done: int, total: int) -> None:
        """See Stages."""
        self._say(done, max(done, total))

    def note(self, text: str) -> None:
        """See Stages."""
        self._say(self._last.done, self._last.total, text)


class ShownStages(Stages):
    """On a console."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._phase = ""
        self._printed = 0.0
        self._bar: Progress | None = None
        if console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=None)

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def phase(self, text: str, total: int | None = None) -> None:
        """See Stages."""
        self._phase = text
        self._printed = time.monotonic()
        if self._bar:
            self._bar.update(self._task, description=text, completed=0, total=total)
        else:
            self.note(f"{text} …")

    def step(self, done: int, total: int) -> None:
        """See Stages."""
        if self._bar:
            self._bar.update(self._task, completed=done, total=max(done, total))
        elif time.monotonic() - self._printed >= PLAIN_EVERY_S:
            self._printed = time.monotonic()
            percent = min(99, 100 * done // total)
            self.note(f"{self._phase}: {percent} % ({done} steps, {self.seconds:.0f} s)")

    def note(self, text: str) -> None:
        """See Stages."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
