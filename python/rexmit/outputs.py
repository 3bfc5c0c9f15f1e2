"""Standard output and standard error of the program, whatever they lead to.

What is written there may hold names that somebody else chose: of files, of interfaces, in comments
of captures and in records of runs. They cannot move the cursor, reverse a line or hide in it:
`shown` is what every text passes on its way there, and on its way into a page.

What a user asked for goes to standard output: where it cannot be written, the program fails. What
tells how things go goes to standard error: where that cannot be written, the work goes on.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from typing import IO, TYPE_CHECKING, Any, NoReturn

from rexmit.errors import UserError
from rexmit.escaping import shown, shown_lines

if TYPE_CHECKING:
    from rich.console import Console

STANDARD_OUTPUT = "standard output"


class Level(IntEnum):
    """How much is said on standard error."""

    QUIET = 0  #: errors and warnings
    USUAL = 1  #: progress and notes as well
    VERBOSE = 2  #: what is done with what, too


level = Level.USUAL
"""Of this process."""

without_colors = False
"""Whether the command line says so."""


class _Shown(io.TextIOWrapper):
    """A stream of texts that others had a part in."""

    @property
    def styled(self) -> _Styled:
        """The same stream for who has escaped texts, and adds styles to them."""
        return _Styled(self)

    def write(self, text: str, /) -> int:
        super().write(shown_lines(text))
        return len(text)


class _Styled:
    """See `_Shown.styled`."""

    def __init__(self, stream: _Shown) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as the stream has it
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write as it is."""
        return io.TextIOWrapper.write(self._stream, text)


def console(*, stderr: bool = False) -> Console:
    """A console on standard output or standard error: its lines are `shown`, and are no markup."""
    return _console_class()(stderr=stderr, highlight=False, emoji=False, markup=False, **_colors())


def _colors() -> dict[str, Any]:
    """What Rich is told beside NO_COLOR, FORCE_COLOR and TERM, which it heeds itself. The command
    line goes before the environment, that before the user's file (no-color.org, CLICOLOR).
    """
    # The program sees to signals before it loads what it can do without.
    from rexmit import configuration

    if without_colors:
        return {"no_color": True}
    if os.environ.get("NO_COLOR"):
        return {}
    if os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return {"force_terminal": True}
    if os.environ.get("CLICOLOR") == "0":
        return {"no_color": True}
    asked = {"always": {"force_terminal": True}, "never": {"no_color": True}}
    return asked.get(configuration.current().color, {})


@cache
def _console_class() -> type[Console]:
    # Importing Rich takes a while, and many commands say nothing.
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class ShownConsole(Console):
        """Escapes what is rendered; only then come styles and what moves the cursor."""

        def render_str(self, text: str, **options: Any) -> Text:  # noqa: ANN401 - as Rich's
            # Rich drops some control characters.
            return super().render_str(shown(text), **options)

        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterable[Segment]:
            for text, style, control in super().render(renderable, options):
                yield Segment(text if control else shown_lines(text), style, control)

        @property
        def file(self) -> IO[str]:
            stream: IO[str] = super().file
            return getattr(stream, "styled", stream)

        @file.setter
        def file(self, stream: IO[str]) -> None:
            self._file = stream

    return ShownConsole


unread = False
"""Whether the reader of standard output has gone (`rexmit show RUN | head`)."""


class _Output(io.FileIO):
    """Standard output; its errors name it."""

    def write(self, data: object) -> int:
        global unread
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            unread = unread or isinstance(error, BrokenPipeError)
            error.filename = STANDARD_OUTPUT
            raise


class _Messages(io.FileIO):
    """Standard error; what cannot be written is lost."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError:
            return len(memoryview(data))  # type: ignore[arg-type]


def open_all() -> None:
    """Make sure of descriptors 0 to 2, and of the errors that writing to them gives.

    A descriptor that is closed would be given to the next file that is opened.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Of a closed standard output a write fails, of a closed standard error it does not.
            flags = os.O_WRONLY if descriptor == 2 else os.O_RDONLY
            os.open(os.devnull, flags)  # writes: nothing
    sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout, line_buffering=os.isatty(1))
    sys.stderr = _text(_Messages(2, "w", closefd=False), sys.stderr, line_buffering=True)


def _text(raw: io.FileIO, like: object, *, line_buffering: bool) -> _Shown:
    return _Shown(
        io.BufferedWriter(raw),
        encoding=getattr(like, "encoding", None) or "utf-8",
        errors=getattr(like, "errors", None),
        line_buffering=line_buffering,
    )


def flush() -> None:
    """Write what waits in standard output."""
    sys.stdout.flush()


def line(text: object, *, err: bool = False) -> None:
    """Write a line, `err` on standard error, where it comes after what standard output has."""
    if err:
        say(str(text))
    else:
        lines(shown(str(text)))


def lines(text: str) -> None:
    """Write lines on standard output: JSON, CSV, or what is `shown`."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def say(text: str) -> None:
    """A line on standard error, after what came before it on standard output."""
    _say(shown(text))


def note(text: str) -> None:
    """The same of what nobody has to know: where something is, how it goes on."""
    if level >= Level.USUAL:
        say(text)


def detail(text: str) -> None:
    """The same of what is done, for who asked for that."""
    if level >= Level.VERBOSE:
        say(f"rexmit: {text}")


def say_error(error: UserError) -> None:
    """What went wrong, and below it what to do."""
    _say(error.text())


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def explained(error: OSError) -> UserError:
    """What went wrong with a file or a descriptor, for a user."""
    why = error.strerror or str(error)
    if error.filename is not None:
        return UserError(f"{os.fsdecode(error.filename)}: {why}")
    try:
        os.stat(".")  # noqa: PTH116 - pathlib takes time to import
    except FileNotFoundError:
        return UserError("the working folder has been removed", "change to another")
    return UserError(why)


def end(status: int) -> NoReturn:
    """End the process. Nothing is left to do: no thread is waited for."""
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(status)
