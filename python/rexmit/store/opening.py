"""Files opened to be written, and folders made: the one place that does it.

Others may write in the same folder, and give a name that they can foresee to a link; what is
written through it lands where the caller may write and they may not. So a new file is really new
(O_EXCL), and its name cannot be foreseen where it is temporary. A file that stays is a plain one
with this name alone. A folder may be found by a link where the user named it, if nobody can have
planted the link; a folder that rexmit named is no link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from rexmit.addresses import SCHEMES
from rexmit.errors import UserError

_LONGEST_NAME: Final = 255
"""Bytes of a name, in the usual file systems."""


def temporary_name(name: str) -> str:
    """A name beside `name` that nobody can foresee."""
    end = f".{secrets.token_hex(8)}.tmp"
    return f".{os.fsdecode(os.fsencode(name)[: _LONGEST_NAME - 1 - len(end)])}{end}"


def is_temporary(path: Path) -> bool:
    """The name is of something that a program that was killed left behind."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def new_file(path: str | Path, mode: int = 0o666, *, within: int | None = None) -> int:
    """A descriptor of a file that this makes, in the open folder `within` where it is given."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    return os.open(path, flags, mode, dir_fd=within)


def created(path: Path, mode: int = 0o666) -> IO[bytes]:
    """A new file, in a folder that is ours until it is finished."""
    return os.fdopen(new_file(path, mode), "wb")


def lasting_file(path: Path, mode: int = 0o666) -> int:
    """A descriptor of a file that stays, such as a lock or one that grows (what is written is
    appended); it is made where there is none.
    """
    # A pipe would keep us waiting for its reader.
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, mode)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):
            raise
        raise _strange(path) from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(descriptor)
        raise _strange(path)
    return descriptor


def _strange(path: Path) -> OSError:
    return OSError(errno.EEXIST, "is no plain file with this name alone", str(path))


def named_folder(path: Path) -> None:
    """Makes a folder that the user named, and those above it, unless it is there.
    Raises UserError for an address: as a name it is kept and shown, with its password.
    """
    scheme, colon, _ = str(path).partition(":/")
    if colon and scheme.lower() in SCHEMES:
        raise UserError(
            f"{path} is an address, and results are kept on this machine", "name a folder"
        )
    there = next(part for part in (path, *path.absolute().parents) if part.exists())
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{there} is no folder", str(path))
    # Nothing is made beyond a link that is refused.
    with opened(there):
        path.mkdir(parents=True, exist_ok=True)
    with opened(path):
        pass


def inner_folder(path: Path) -> Path:
    """Makes a folder in one that `named_folder` made, unless it is there."""
    with contextlib.suppress(FileExistsError):
        path.mkdir()
    # An open folder by its number looks like a link.
    is_open = _DESCRIPTOR.fullmatch(str(path)) is not None
    if not is_open and not stat.S_ISDIR(path.lstat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "is no folder, but a link or a file", str(path))
    return path


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """A descriptor of a folder, for names in it, whatever becomes of its own name. Refuses a path
    through a link that somebody else may have planted.
    """
    descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY)
    try:
        whole = path.absolute()
        for part in (whole, *whole.parents):
            status = part.lstat()
            if stat.S_ISLNK(status.st_mode) and not _is_trusted(status, part.parent.stat()):
                raise OSError(
                    errno.ELOOP, "is a link of another user; name what it leads to", str(part)
                )
        yield descriptor
    finally:
        os.close(descriptor)


def _is_trusted(status: os.stat_result, above: os.stat_result | None = None) -> bool:
    """Whether who owns this can do all that the caller can; or arranged the folder `above`, in
    which it lies, unless the caller may do more than others.
    """
    caller = os.geteuid()
    # In a user namespace root may have another number.
    trusted = {caller, 0, Path("/").stat().st_uid}
    if caller:
        return status.st_uid in trusted or (above is not None and status.st_uid == above.st_uid)
    return status.st_uid in trusted or str(status.st_uid) == os.environ.get("SUDO_UID")


_DESCRIPTOR: Final = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
_STANDARD: Final = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}


def stream(path: Path) -> int | None:
    """A descriptor of what is written where it is and cannot be replaced: an open file by its
    number, as a shell's `>(…)` is, a named pipe, a device. None of anything else.
    """
    if number := _DESCRIPTOR.fullmatch(_STANDARD.get(str(path), str(path))):
        return os.dup(int(number[1]))
    try:
        named = path.lstat()
    except OSError:
        return None
    kind = stat.S_IFMT(named.st_mode)
    if kind not in (stat.S_IFIFO, stat.S_IFCHR):
        return None
    strange = OSError(errno.EPERM, "is a pipe or a device of another user", str(path))
    # Opening a pipe waits until somebody reads it.
    if not _is_trusted(named):
        raise strange
    descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    status = os.fstat(descriptor)
    if stat.S_IFMT(status.st_mode) != kind or not _is_trusted(status):
        os.close(descriptor)
        raise strange
    return descriptor
