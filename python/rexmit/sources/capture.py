"""What stands for a capture: the path of a file, or an object of a store."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, Final

from rexmit.errors import UserError
from rexmit.sources.remote import Remote
from rexmit.values import dataclass


@dataclass(frozen=True)
class Spooled:
    """What came from a pipe, in a file: it is called as the pipe was."""

    path: Path
    pipe: str

    def __str__(self) -> str:
        return self.pipe

    @property
    def name(self) -> str:
        """The pipe's name."""
        return self.pipe

    def open(self) -> IO[bytes]:
        """Begins to read it."""
        return self.path.open("rb", buffering=0)


@dataclass(frozen=True)
class Live:
    """What passes an interface, as a program writes it into a pipe. It can be read once."""

    interface: str
    pipe: IO[bytes]

    def __str__(self) -> str:
        return self.interface

    @property
    def name(self) -> str:
        """The interface."""
        return self.interface

    def open(self) -> IO[bytes]:
        """Begins to read it."""
        return self.pipe


Capture = Path | Remote | Spooled | Live
"""A capture that can be opened."""

STDIN: Final = "-"
"""The name of standard input."""


def name_of(capture: Capture) -> str:
    """The last part of its name, as a file's."""
    return capture.name


def is_file(capture: Capture) -> bool:
    """Whether it can be opened more than once."""
    return capture.is_file() if isinstance(capture, Path) else not isinstance(capture, Live)


def whole_name(capture: Capture) -> str:
    """The name by which it is found from any folder."""
    return str(capture.resolve()) if isinstance(capture, Path) else str(capture)


def has_identity(capture: Capture) -> bool:
    """Whether it lies somewhere, where it may change."""
    return isinstance(capture, Remote) or (isinstance(capture, Path) and capture.is_file())


def identity(capture: Capture) -> dict[str, Any]:
    """What a capture is known by: other content is known by another. Raises UserError where it is
    gone."""
    if isinstance(capture, Remote):
        version = capture.tag or capture.changed_s
        return {"name": str(capture), "bytes": capture.bytes, "version": version}
    if not isinstance(capture, Path):
        raise UserError(
            f"{capture} is a pipe, which workers cannot read", "keep what it brings in a file"
        )
    try:
        status = capture.stat()
    except OSError as error:
        raise UserError(f"{capture}: {error.strerror}") from error
    name = str(capture.resolve())
    return {"name": name, "bytes": status.st_size, "version": status.st_mtime_ns}
