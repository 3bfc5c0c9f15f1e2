"""Writing files whole or not at all: to a temporary name beside, then renamed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name to write `path` under; it takes the place of `path` at the end.

    After an error the temporary file is gone and `path` is as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def is_temporary(path: Path) -> bool:
    """The name is of a file that `whole`, in a program that was killed, left behind."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def write_text(path: Path, text: str) -> None:
    """Write a text file, UTF-8, whole or not at all."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
