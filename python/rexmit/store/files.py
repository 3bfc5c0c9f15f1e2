"""Writing files and folders whole or not at all: to a temporary name beside, then renamed.

Where something cannot be written, the OSError that comes has the name of what was to be written and
the system's reason. A temporary file is gone after an error and after an interrupt; what a program
that was killed left behind has a name that `is_temporary` knows.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from rexmit import interrupt


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside, errors of the system that concern no other file are told of `path`.

    Polars has errors of its own for what the system refuses, with the number in their text.
    """
    try:
        yield
    except OSError as error:
        number = error.errno or _system_error(error)
        if number is None:
            raise
        ours = error.filename is None or Path(os.fsdecode(error.filename)) == _temporary(path)
        name = str(path) if ours else error.filename
        raise OSError(number, os.strerror(number), name) from error
    except Exception as error:
        number = _system_error(error)
        if number is None or not type(error).__module__.startswith("polars"):
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


def _system_error(error: Exception) -> int | None:
    found = re.search(r"\(os error (\d+)\)", str(error))
    return int(found[1]) if found else None


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def is_temporary(path: Path) -> bool:
    """The name is of something that a program that was killed left behind."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


@contextlib.contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A temporary name to write the file `path` under; it takes the place of `path` at the end.

    After an error or an interrupt the temporary file is gone and `path` is as it was.
    """
    temporary = _temporary(path)
    with interrupt.undone_by(partial(temporary.unlink, missing_ok=True)), writing(path):
        try:
            yield temporary
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder to fill; it becomes `path` at the end, in the place of a folder that is there.

    After an error or an interrupt it is gone with all that is in it, and `path` is as it was. What
    programs that were killed left of `path` is removed first.
    """
    temporary = _temporary(path)
    remove = partial(shutil.rmtree, temporary, ignore_errors=True)
    with interrupt.undone_by(remove), writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        try:
            with _owned(temporary):
                yield temporary
                _put(temporary, path)
        finally:
            remove()


@contextlib.contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Make a folder and hold a lock on it, which the kernel lets go whatever the owner's end is."""
    while True:
        folder.mkdir()
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Whoever swept in between took it for one without an owner.
        if folder.exists() and os.fstat(descriptor).st_ino == folder.stat().st_ino:
            break
        os.close(descriptor)
    try:
        yield
    finally:
        os.close(descriptor)


def _sweep(path: Path) -> None:
    """Remove the temporary folders of `path` whose owner is gone."""
    for folder in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)


_RENAME_EXCHANGE: Final = 2
"""linux/fs.h"""


def _put(folder: Path, path: Path) -> None:
    """Give a folder the name `path`; what has that name gets the folder's, in the same step."""
    if not path.exists():
        folder.rename(path)
        return
    here = -100  # AT_FDCWD
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(here, os.fsencode(folder), here, os.fsencode(path), _RENAME_EXCHANGE):
        # A file system that cannot exchange names.
        old = path.with_name(f".{path.name}.{os.getpid()}.old.tmp")
        path.rename(old)
        folder.rename(path)
        shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder for what nobody keeps."""
    folder = Path(tempfile.mkdtemp(prefix="rexmit-"))
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    with interrupt.undone_by(remove):
        try:
            yield folder
        finally:
            remove()


def copy(source: Path, path: Path) -> None:
    """Copy what is in a file, and nothing else of it, whole or not at all."""
    with whole(path) as temporary, source.open("rb") as there, temporary.open("wb") as here:
        shutil.copyfileobj(there, here, 1 << 20)


def write_text(path: Path, text: str) -> None:
    """Write a text file, UTF-8, whole or not at all."""
    with whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
