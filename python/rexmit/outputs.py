"""Standard output and standard error of the program, whatever they lead to.

What a user asked for goes to standard output: where it cannot be written, the program fails. What
tells how things go goes to standard error: where that cannot be written, the work goes on.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import NoReturn

from rexmit.errors import UserError

STANDARD_OUTPUT = "standard output"


class _Output(io.FileIO):
    """Standard output; its errors name it."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
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


def _text(raw: io.FileIO, like: object, *, line_buffering: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(like, "encoding", None) or "utf-8",
        errors=getattr(like, "errors", None),
        line_buffering=line_buffering,
    )


def flush() -> None:
    """Write what waits in standard output."""
    sys.stdout.flush()


def say(text: str) -> None:
    """A line on standard error, after what came before it on standard output."""
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
