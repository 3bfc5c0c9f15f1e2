"""Copies files that a program made whom nobody need trust: their contents and no more.

What comes out belongs to the caller, has no set-user-ID bit, no capability or other extended
attribute, and is a file, a folder or a link; pipes, sockets and devices are left out. No link is
followed. Nobody may be at work in the source any more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from rexmit.store.files import remove, whole_descriptor
from rexmit.store.opening import new_file

DEEPEST: Final = 200
"""Folders within one another. Each takes two open files while it is copied."""

_PIECE: Final = 1 << 24
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_OPEN_FOLDER: Final = _OPEN | os.O_DIRECTORY


class UntrustedError(Exception):
    """A tree is not copied: what is wrong with it, in words."""


@dataclass(slots=True)
class Budget:
    """How much may still be copied. A file that has several names counts for each, and its holes
    count: programs fill them in when they copy or pack what came out."""

    bytes: int
    files: int
    most: int = field(init=False)
    """The bytes of all files together."""

    def __post_init__(self) -> None:
        self.most = self.bytes

    @classmethod
    def on(cls, descriptor: int) -> Self:
        """As much as the file system holds that this is on: more are names and holes."""
        room = os.fstatvfs(descriptor)
        return cls(bytes=room.f_blocks * room.f_frsize, files=room.f_files)

    def take(self, size: int) -> None:
        """A file of this size is copied. Raises UntrustedError where it is too much."""
        if size > self.bytes:
            raise UntrustedError(
                f"its files, with their holes, are larger than {self.most >> 20} MiB"
            )
        self.bytes -= size


@contextlib.contextmanager
def _opened(name: str, flags: int, folder: int | None) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=folder)  # writes: nothing, it is for reading
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def copy_file(source: Path, to: Path) -> None:
    """Copy a file's contents, whole or not at all. Raises OSError, for one that is larger than its
    file system, too.
    """
    with _opened(str(source), _OPEN, None) as old, whole_descriptor(to) as new:
        try:
            _copy_contents(old, new, Budget.on(old))
        except UntrustedError as error:
            raise OSError(errno.EFBIG, str(error), str(source)) from None


def copy_tree(source: int, to: Path, budget: Budget) -> None:
    """Copy all that is in an open folder into an empty one.

    Raises UntrustedError for more than the budget or too deep a tree, OSError where `to` cannot be
    written. After any error nothing is left in `to`.
    """
    try:
        with _opened(str(to), _OPEN_FOLDER, None) as target:
            _copy_folder(source, target, budget, 0)
    except BaseException:
        _empty(to)
        raise


def _copy_folder(source: int, to: int, budget: Budget, depth: int) -> None:
    if depth > DEEPEST:
        raise UntrustedError(f"its folders are more than {DEEPEST} deep")
    # A list of names, not an open folder: only `budget` bounds how many there are.
    for name in os.listdir(source):
        status = os.stat(name, dir_fd=source, follow_symlinks=False)
        kind = stat.S_IFMT(status.st_mode)
        mode = status.st_mode & 0o777
        if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
            continue
        budget.files -= 1
        if budget.files < 0:
            raise UntrustedError("it holds too many files")
        if kind == stat.S_IFLNK:
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=to)
            continue
        # Its owner may read it in any case; what it is was looked at just before.
        os.chmod(name, mode | 0o700, dir_fd=source)
        if kind == stat.S_IFDIR:
            os.mkdir(name, 0o700, dir_fd=to)
            with _opened(name, _OPEN_FOLDER, source) as old, _opened(name, _OPEN_FOLDER, to) as new:
                _copy_folder(old, new, budget, depth + 1)
                os.fchmod(new, mode | 0o700)
                os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
        else:
            with (
                _opened(name, _OPEN, source) as old,
                os.fdopen(new_file(name, 0o600, within=to), "wb") as file,
            ):
                new = file.fileno()
                _copy_contents(old, new, budget)
                os.fchmod(new, mode)
                os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))


def _copy_contents(source: int, to: int, budget: Budget) -> None:
    """Copy what there is of a file; its holes remain holes, or a small file could fill a disk."""
    size = os.fstat(source).st_size
    budget.take(size)
    os.ftruncate(to, size)
    end = 0
    while end < size:
        try:
            begin = os.lseek(source, end, os.SEEK_DATA)
        except OSError:
            return  # Nothing but a hole is left.
        end = os.lseek(source, begin, os.SEEK_HOLE)
        while begin < end:
            data = os.pread(source, min(_PIECE, end - begin), begin)
            if not data:
                return
            view = memoryview(data)
            while view:
                written = os.pwrite(to, view, begin)
                begin += written
                view = view[written:]


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        remove(path)
