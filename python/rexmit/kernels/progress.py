"""Shows how far a build is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PLAIN_EVERY_S: Final = 20.0


class BuildProgress:
    """A context in which phases are announced and compilation steps counted."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
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

    @property
    def seconds(self) -> float:
        """Real time since the start."""
        return time.monotonic() - self._started

    def phase(self, text: str, total: int | None = None) -> None:
        """Begin a phase of `total` steps, if that is known."""
        self._phase = text
        self._printed = time.monotonic()
        if self._bar:
            self._bar.update(self._task, description=text, completed=0, total=total)
        else:
            self.note(f"{text} …")

    def step(self, done: int, total: int) -> None:
        """Show that `done` of about `total` steps of the phase are done."""
        if self._bar:
            self._bar.update(self._task, completed=done, total=max(done, total))
        elif time.monotonic() - self._printed >= PLAIN_EVERY_S:
            self._printed = time.monotonic()
            percent = min(99, 100 * done // total)
            self.note(f"{self._phase}: {percent} % ({done} steps, {self.seconds:.0f} s)")

    def note(self, text: str) -> None:
        """Print a line that stays."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
