"""Names and contents of a foreign tree: nothing is followed out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.kernel import printable

LONGEST_NAME: Final = 1024
"""In bytes, from the top of a tree."""

_LONGEST_PART: Final = 255
_DEEPEST: Final = 64
_MOST_READ: Final = 16 << 20


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
            entries = list(os.scandir(top / prefix))
        except OSError as error:
            raise UserError(f"{top}/{printable(prefix)}: {error.strerror}") from error
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield prefix + entry.name
            elif entry.name != ".git":
                folders.append(f"{prefix}{entry.name}/")


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
