"""Writing files and folders whole or not at all: to a temporary name beside, then renamed.

Where something cannot be written, the OSError that comes has the name of what was to be written and
the system's reason. A temporary file is gone after an error and after an interrupt; what a program
that was killed left behind has a name that `is_temporary` knows. Folders are locked by flock(2)
itself: filelock locks files alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import io
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

from rexmit import interrupt


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Inside, errors of the system that name no other file name `path`."""
    try:
        yield
    except OSError as error:
        # Rust's errors have the number in their text alone.
        if error.errno is None and (found := re.search(r"\(os error (\d+)\)", str(error))):
            number = int(found[1])
            raise OSError(number, os.strerror(number), str(path)) from error
        if error.filename is None or Path(os.fsdecode(error.filename)) == _temporary(path):
            error.filename = str(path)
        raise


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
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write; it becomes `path` at the end, as with `whole`.

    For libraries (Polars, matplotlib), which make errors of their own of what the system refuses:
    whatever they raise then, the first refusal is what is raised here.
    """
    with whole(path) as temporary, _File(temporary) as file:
        try:
            yield cast(IO[bytes], file)
        except Exception as error:
            if file.refusal is not None:
                raise file.refusal from error
            raise


class _File(io.RawIOBase):
    """A file that remembers what the system refused."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("wb", buffering=0)
        self.refusal: OSError | None = None

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 - any buffer
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.refusal = self.refusal or error
            raise
        return size

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


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
        sweep(path.parent.glob(f".{glob.escape(path.name)}.*.tmp"))

        def make() -> Path:
            temporary.mkdir()
            return temporary

        _, descriptor = owned(make)
        try:
            yield temporary
            _put(temporary, path)
        finally:
            remove()
            os.close(descriptor)


def owned(make: Callable[[], Path]) -> tuple[Path, int]:
    """A folder that `make` makes, and a descriptor that holds a lock on it.

    The kernel lets the lock go whatever the owner's end is: a folder whose lock can be had is of
    nobody, and `sweep` removes it.
    """
    while True:
        folder = make()
        # Whoever swept in between took it for one without an owner.
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == folder.stat().st_ino:
                return folder, descriptor
        os.close(descriptor)


def sweep(folders: Iterable[Path]) -> None:
    """Remove those of these folders that are of nobody (see `owned`)."""
    for folder in folders:
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


SCRATCH = "rexmit-"
"""What names of temporary folders begin with."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder for what nobody keeps."""
    folder = Path(tempfile.mkdtemp(prefix=SCRATCH))
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
