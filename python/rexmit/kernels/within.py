"""Names and contents of foreign trees and files: nothing is followed out of a tree, and nothing is
read without a limit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from rexmit.errors import UserError
from rexmit.kernels.kernel import printable

LONGEST_NAME: Final = 1024
"""In bytes, from the top of a tree."""

_LONGEST_PART: Final = 255
_DEEPEST: Final = 64
_MOST_READ: Final = 16 << 20
_BLOCK: Final = 1 << 20


def check_name(name: str, where: str) -> None:
    """Raise UserError unless `name` can be that of something inside a folder."""
    parts = name.split("/")
    if ".." in parts or name.startswith("/"):
        raise UserError(f"{where}: {printable(name)} leads out of the tree")
    encoded = os.fsencode(name)
    if (
        "" in parts
        or "." in parts
        or b"\0" in encoded
        or len(encoded) > LONGEST_NAME
        or len(parts) > _DEEPEST
        or any(len(part) > _LONGEST_PART for part in encoded.split(b"/"))
    ):
        raise UserError(f"{where}: impossible file name {printable(name)}")


def files_within(top: Path) -> Iterator[str]:
    """The names of all that is no folder in a tree, besides git's."""
    folders = [""]
    while folders:
        prefix = folders.pop()
        try:
            with os.scandir(top / prefix) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False):
                        yield prefix + entry.name
                    elif entry.name != ".git":
                        folders.append(f"{prefix}{entry.name}/")
        except OSError as error:
            raise UserError(f"{top}/{printable(prefix)}: {error.strerror}") from error


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A regular file that the user named, unbuffered. Raises UserError for anything else, which it
    does not wait for, and for what cannot be read."""
    where = printable(str(path), 200)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UserError(f"{where} is no regular file", usage=True)
            yield file
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise UserError(f"{where}: {reason}", usage=True) from None


def whole(path: Path, most: int, what: str) -> bytes:
    """The content of a regular file that the user named. Raises UserError as `opened` does, and
    where it has more than the `most` bytes that `what` may have."""
    with opened(path) as file:
        content = beginning(file, most + 1)
    if len(content) > most:
        raise UserError(
            f"{printable(str(path), 200)} is larger than {mebibytes(most)}: too large for {what}",
            usage=True,
        )
    return content


class Readable(Protocol):
    """What bytes can be read from."""

    def read(self, size: int, /) -> bytes: ...


def beginning(stream: Readable, most: int) -> bytes:
    """The first `most` bytes of a stream, less only where it ends before."""
    content = bytearray()
    while len(content) < most and (block := stream.read(min(most - len(content), _BLOCK))):
        content += block
    return bytes(content)


def mebibytes(size: int) -> str:
    """A limit as text."""
    return f"{size >> 30} GiB" if size >= 1 << 30 else f"{size >> 20} MiB"


def read_within(path: Path, most: int = _MOST_READ) -> str | None:
    """The text of a file of a foreign tree, or its first `most` bytes; None for anything that is
    not a file, a link to one included."""
    content = file_content(path, most, os.O_NOFOLLOW)
    return None if content is None else content.decode(errors="replace")


def file_content(path: Path, most: int, flags: int = 0) -> bytes | None:
    """The first `most` bytes of a regular file; None for anything else, without waiting for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | flags)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(descriptor)
