"""A folder that is filled from a source of somebody else's: nothing leads out of it.

It is new and private to this process, or was filled before by this class and then built in. What a
build left in it is not trusted: it may have put links in the place of files and folders. So every
file is made below folders that are opened one by one, without following a link, and a file of
before counts only as long as it is, to the nanosecond, what this class made.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple, Self

from rexmit.errors import UserError
from rexmit.kernels.kernel import printable
from rexmit.kernels.within import LONGEST_NAME, check_name
from rexmit.store.opening import new_file

MOST_ENTRIES: Final = 500_000
"""Linux 6.12 has 93,000 files and folders."""
MOST_BYTES: Final = 8 << 30
"""Linux 6.12 has 1.6 GB."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW

Stamp = tuple[int, int, int, int, int]
"""What changes whenever a file does: mode, size, times of change in nanoseconds, inode. The last
of the times (ctime) is set by the system alone."""

Source = tuple[int, ...]
"""The stamp of a file that was copied; or of a file in a commit, its mode and its object's name."""


def stamp(status: os.stat_result) -> Stamp:
    """The stamp of a file."""
    times = status.st_mtime_ns, status.st_ctime_ns
    return (status.st_mode, status.st_size, *times, status.st_ino)


def new_digest(*, executable: bool) -> hashlib.blake2b:
    """What the digest of a file begins as."""
    return hashlib.blake2b(b"program" if executable else b"file", digest_size=16)


class Made(NamedTuple):
    """What a tree knows of a file that it has."""

    digest: str
    """Of its kind and content."""
    ours: Stamp
    """Of the file in the tree."""
    source: Source | None = None
    """Of the file that it was copied from, where that is enough to know it again."""


class Folders:
    """Opens the folders of a tree, each below the one that holds it, so that no link is followed
    even if one is put there meanwhile."""

    def __init__(self, top: Path) -> None:
        self._top = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
        self._name = ""
        self._open = os.dup(self._top)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._open)
        os.close(self._top)

    def open(self, name: str) -> int:
        """A descriptor of the folder, good until the next call. A link is no folder."""
        if name == self._name:
            return self._open
        at = os.dup(self._top)
        try:
            for part in name.split("/") if name else ():
                below = os.open(part, _FOLDER, dir_fd=at)
                os.close(at)
                at = below
        except BaseException:
            os.close(at)
            raise
        os.close(self._open)
        self._name, self._open = name, at
        return at


class NewTree:
    """The folder `top`; `where` names its source in errors. It is made here, unless `before` says
    what an earlier one made in it.

    Its methods raise UserError for names that lead out or cannot be, and for a source without end.
    """

    def __init__(self, top: Path, where: str, before: dict[str, Made] | None = None) -> None:
        if before is None:
            top.mkdir(parents=True)
        self._within = Folders(top)
        self._where = where
        self._before = before or {}
        self.made: dict[str, Made] = {}
        """What this one has made or kept, by name."""
        self._folders = {""}
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._within.__exit__()

    def file(
        self,
        name: str,
        content: Iterable[bytes],
        *,
        executable: bool,
        source: Source | None = None,
    ) -> str:
        """Make a file, and return its digest. `source` is enough to know again what it is from."""
        folder, base = self._place(name)
        descriptor = new_file(base, 0o777 if executable else 0o666, within=folder)
        digest = new_digest(executable=executable)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            for block in content:
                self._count(len(block))
                digest.update(block)
                file.write(block)
            ours = stamp(os.fstat(descriptor))
        return self._add(name, Made(digest.hexdigest(), ours, source))

    def link(self, name: str, target: str) -> str:
        """Make a symbolic link, and return its digest. It may lead anywhere: nothing here follows
        it."""
        encoded = os.fsencode(target)
        if not encoded or b"\0" in encoded or len(encoded) > LONGEST_NAME:
            raise UserError(f"{self._where}: the link {printable(name)} has an impossible target")
        digest = hashlib.blake2b(b"link" + encoded, digest_size=16).hexdigest()
        if self.keep(name, digest):
            return digest
        folder, base = self._place(name)
        os.symlink(target, base, dir_fd=folder)
        ours = stamp(os.stat(base, dir_fd=folder, follow_symlinks=False))
        return self._add(name, Made(digest, ours))

    def keep(self, name: str, digest: str | None, source: Source | None = None) -> bool:
        """Keep the file that is here from before: the one with this digest, or where that is not
        known, the one made from `source`. False where there is none, as it was made."""
        earlier = self._before.get(name)
        if earlier is None or name in self.made:
            return False
        if earlier.digest != digest if digest else source is None or earlier.source != source:
            return False
        folder, _, base = name.rpartition("/")
        try:
            status = os.stat(base, dir_fd=self._within.open(folder), follow_symlinks=False)
        except OSError:
            return False
        if stamp(status) != earlier.ours:
            return False
        self._count(status.st_size)
        self._add(name, earlier._replace(source=source))
        while folder and folder not in self._folders:
            self._folders.add(folder)
            folder = folder.rpartition("/")[0]
        return True

    def take(
        self,
        name: str,
        content: Callable[[], Iterable[bytes]],
        *,
        executable: bool,
        source: Source | None,
    ) -> str:
        """Keep the file that is here from before if it has this content, so that it keeps its time
        and with it its objects; else make it. Returns its digest."""
        if name in self._before:
            digest = new_digest(executable=executable)
            for block in content():
                digest.update(block)
            if self.keep(name, digest.hexdigest(), source):
                return digest.hexdigest()
        return self.file(name, content(), executable=executable, source=source)

    def remove_others(self) -> None:
        """Remove what an earlier one has made and this one has not, and objects made of that: make
        would take an object without a source for a source."""
        for name in self._before.keys() - self.made.keys():
            folder, _, base = name.rpartition("/")
            for gone in (base, f"{base.rpartition('.')[0]}.o"):
                with contextlib.suppress(OSError):
                    os.unlink(gone, dir_fd=self._within.open(folder))

    def _add(self, name: str, file: Made) -> str:
        self.made[name] = file
        if len(self.made) + len(self._folders) > MOST_ENTRIES:
            raise UserError(f"{self._where}: more than {MOST_ENTRIES:,} files")
        return file.digest

    def _count(self, more: int) -> None:
        self._bytes += more
        if self._bytes > MOST_BYTES:
            raise UserError(f"{self._where}: more than {MOST_BYTES >> 30} GiB")

    def _place(self, name: str) -> tuple[int, str]:
        """Where a new file goes: its open folder, and its name in that, which nothing has."""
        check_name(name, self._where)
        folder, _, base = name.rpartition("/")
        if folder not in self._folders:
            self._make(folder)
        within = self._within.open(folder)
        if name in self.made or name in self._folders:
            raise UserError(f"{self._where}: {printable(name)} is there twice")
        _clear(base, within)
        return within, base

    def _make(self, folder: str) -> None:
        above = ""
        for part in folder.split("/"):
            within, above = above, f"{above}/{part}" if above else part
            if above in self._folders:
                continue
            if above in self.made:
                raise UserError(
                    f"{self._where}: {printable(folder)} leads out of the tree or nowhere: "
                    f"{printable(above)} is no folder"
                )
            at = self._within.open(within)
            try:
                os.mkdir(part, dir_fd=at)
            except FileExistsError:
                if not stat.S_ISDIR(os.stat(part, dir_fd=at, follow_symlinks=False).st_mode):
                    os.unlink(part, dir_fd=at)
                    os.mkdir(part, dir_fd=at)
            self._folders.add(above)


def _clear(base: str, within: int) -> None:
    """Remove what a build may have left in a file's place."""
    try:
        os.unlink(base, dir_fd=within)
    except FileNotFoundError:
        return
    except IsADirectoryError:
        shutil.rmtree(base, dir_fd=within)
