"""A folder of pieces: folders of a trace that follow each other, each whole from its first moment.

A piece is named by the wall clock (UTC) when it began, so that names sort in the order of time.
While it grows it has a hidden name (`store.files.whole_folder`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rexmit.errors import UserError, argument
from rexmit.store.files import remove, sweep
from rexmit.store.opening import is_temporary, named_folder, temporary_name
from rexmit.tracing.folder import META, pieces_of
from rexmit.tracing.watch.amounts import Amount


class Pieces:
    """The pieces below a folder, of which one process at a time writes the next."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def check(self) -> None:
        """Raises UserError where the folder is not there any more."""
        try:
            there = self.path.stat()
        except FileNotFoundError:
            there = None
        ours = os.fstat(self._descriptor)
        if there is None or (there.st_dev, there.st_ino) != (ours.st_dev, ours.st_ino):
            raise UserError(
                f"{self.path}: the folder was removed or replaced while it was written",
                "what was read since the last piece is lost; start again",
            )

    def next(self) -> Path:
        """The name for the next piece. Raises UserError as `check` does."""
        self.check()
        stem = datetime.fromtimestamp(time.time(), UTC).strftime("%Y%m%dT%H%M%SZ")
        taken = {path.name for path in self.path.iterdir()}
        number = 0
        while (name := f"{stem}-{number:04}") in taken:
            number += 1
        return self.path / name

    def keep(self, most: Amount | None) -> int:
        """Deletes the oldest pieces beyond so many, so many bytes, or older than so long; the
        newest stays. How many were deleted.
        """
        pieces = pieces_of(self.path)
        deleted = 0
        if most is None:
            return deleted
        sizes = [_bytes(piece) for piece in pieces]
        while len(pieces) > 1 and self._is_too_much(pieces, sizes, most):
            # Under a name that no reader looks at it can go bit by bit.
            gone = self.path / temporary_name(pieces[0].name)
            sizes.pop(0)
            # Others may delete pieces, too.
            with contextlib.suppress(FileNotFoundError):
                pieces.pop(0).rename(gone)
                remove(gone)
                deleted += 1
        return deleted

    @staticmethod
    def _is_too_much(pieces: list[Path], sizes: list[int], most: Amount) -> bool:
        if most.number is not None:
            return len(pieces) > most.number
        if most.bytes is not None:
            return sum(sizes) > most.bytes
        assert most.seconds is not None  # noqa: S101 - it is one of the three
        try:
            # The rows of a piece came out before it was written.
            return pieces[0].stat().st_mtime < time.time() - most.seconds
        except FileNotFoundError:
            return True


def _bytes(folder: Path) -> int:
    size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            size += path.stat().st_size if path.is_file() else 0
    return size


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Pieces]:
    """The pieces of a folder, which is made where there is none; nobody else writes it meanwhile.

    What a program that was killed left of its piece is removed, and so is a folder that was made
    here and has no piece at the end. Raises UserError where the folder is somebody's, or holds
    something else.
    """
    is_ours = not path.exists()
    try:
        named_folder(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise UserError(
            f"{path}: cannot be written: {error.strerror}", f"name another with {argument('out')}"
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(
                f"{path}: another rexmit writes there", f"name another with {argument('out')}"
            ) from error
        pieces = set(pieces_of(path))
        strangers = [one for one in path.iterdir() if one not in pieces and not is_temporary(one)]
        if strangers or (path / META).is_file():
            raise UserError(
                f"{path} holds something else: {min(strangers, default=path).name}",
                f"name an empty or a new folder with {argument('out')}",
            )
        sweep(one for one in path.iterdir() if is_temporary(one))
        yield Pieces(path, descriptor)
    finally:
        if is_ours:
            # It is kept where it holds anything.
            with contextlib.suppress(OSError):
                path.rmdir()
        os.close(descriptor)
