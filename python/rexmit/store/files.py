"""Writing files and folders whole or not at all: to a temporary name beside, then renamed.

What had the name is replaced: of a link the link itself, never what it leads to. A pipe, a device
or an open file (`/dev/stdout`) is written to instead. Where something cannot be written, the
OSError that comes has the name of what was to be written and the system's reason. A temporary file
is gone after an error and after an interrupt; what a program that was killed left behind has a name
that `is_temporary` knows. Folders are locked by flock(2) itself: filelock locks files alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import glob
import io
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, cast

from rexmit import interrupt
from rexmit.errors import UserError, argument
from rexmit.store import opening


@contextlib.contextmanager
def writing(path: Path, under: Path | None = None) -> Iterator[None]:
    """Inside, errors of the system that name no other file name `path`, or a file in it where it is
    written `under` another name.
    """
    try:
        yield
    except OSError as error:
        # Rust's errors have the number in their text alone.
        if error.errno is None and (code := re.search(r"\(os error (\d+)\)", str(error))):
            number = int(code[1])
            raise OSError(number, os.strerror(number), str(path)) from error
        named = None if error.filename is None else Path(os.fsdecode(error.filename))
        if named is None or named == path.parent or opening.is_temporary(named):
            error.filename = str(path)
        elif under is not None and named.is_relative_to(under):
            error.filename = str(path / named.relative_to(under))
        raise


@contextlib.contextmanager
def whole_descriptor(path: Path, mode: int = 0o666) -> Iterator[int]:
    """A descriptor of a new file, which becomes `path` at the end.

    After an error or an interrupt it is gone and `path` is as it was.
    """
    with writing(path), contextlib.ExitStack() as closing:
        if (stream := opening.stream(path)) is not None:
            closing.callback(os.close, stream)
            yield stream
            return
        folder = closing.enter_context(opening.opened(path.parent))
        name = opening.temporary_name(path.name)
        remove = partial(_unlink, name, folder)
        closing.enter_context(interrupt.undone_by(remove))
        closing.callback(remove)
        with os.fdopen(opening.new_file(name, mode, within=folder), "wb", buffering=0) as file:
            yield file.fileno()
        os.rename(name, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def _unlink(name: str, folder: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[IO[bytes]]:
    """A file to write; it becomes `path` at the end, as with `whole_descriptor`.

    For libraries (Polars, matplotlib), which make errors of their own of what the system refuses:
    whatever they raise then, the first refusal is what is raised here.
    """
    with whole_descriptor(path, mode) as descriptor, _File(descriptor) as file:
        try:
            yield cast(IO[bytes], file)
        except Exception as error:
            if file.refusal is not None:
                raise file.refusal from error
            raise


class _File(io.RawIOBase):
    """A file that remembers what the system refused."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._file = os.fdopen(descriptor, "wb", buffering=0, closefd=False)
        self.refusal: OSError | None = None

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

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
def whole_folder(path: Path, *, replaces: Callable[[], object] = lambda: None) -> Iterator[Path]:
    """A new folder to fill; it becomes `path` at the end, in the place of a folder that is there,
    unless `replaces` raises then.

    After an error or an interrupt it is gone with all that is in it, and `path` is as it was. What
    programs that were killed left of `path` is removed first.
    """
    with writing(path), contextlib.ExitStack() as closing:
        opening.named_folder(path.parent)
        place = _by_descriptor(closing.enter_context(opening.opened(path.parent)))
        sweep(place.glob(f".{glob.escape(path.name)}.*.tmp"))
        temporary = place / opening.temporary_name(path.name)
        remove_it = partial(remove, temporary)
        closing.enter_context(interrupt.undone_by(remove_it))
        closing.callback(remove_it)

        def make() -> Path:
            temporary.mkdir()
            return temporary

        _, descriptor = owned(make)
        closing.callback(os.close, descriptor)
        # Whatever becomes of its name meanwhile, this is the folder that was made.
        link = _by_descriptor(descriptor)
        with writing(path, link):
            yield link
        replaces()
        _put(temporary, place / path.name)


def is_taken(path: Path) -> bool:
    """Whether there is anything at a path but an empty folder."""
    return path.exists() and (not path.is_dir() or any(path.iterdir()))


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """As `whole_folder`, in the place of nothing: raises UserError where `path` holds anything."""
    if is_taken(path):
        raise UserError(
            f"{path} is there already and not empty",
            f"give another with {argument('out')}, or remove it",
        )
    with whole_folder(path) as unfinished:
        try:
            yield unfinished
        except UserError as error:
            what = error.what.replace(str(unfinished), str(path))
            raise UserError(what, error.hint, usage=error.usage) from error


def _by_descriptor(folder: int) -> Path:
    return Path(f"/proc/self/fd/{folder}")


def owned(make: Callable[[], Path]) -> tuple[Path, int]:
    """A folder that `make` makes, and a descriptor that holds a lock on it.

    The kernel lets the lock go whatever the owner's end is: a folder whose lock can be had is of
    nobody, and `sweep` removes it.
    """
    while True:
        folder = make()
        # Whoever swept in between took it for one without an owner.
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == folder.lstat().st_ino:
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


def remove(path: Path) -> None:
    """Remove a folder with all in it, as far as can be, or a file or a link, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


_RENAME_EXCHANGE: Final = 2
"""linux/fs.h"""


def _put(folder: Path, path: Path) -> None:
    """Give a folder the name `path`; what has that name gets the folder's, in the same step."""
    if not os.path.lexists(path):
        folder.rename(path)
        return
    here = -100  # AT_FDCWD
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(here, os.fsencode(folder), here, os.fsencode(path), _RENAME_EXCHANGE):
        # A file system that cannot exchange names.
        old = path.with_name(opening.temporary_name(path.name))
        path.rename(old)
        folder.rename(path)
        remove(old)


SCRATCH = "rexmit-"
"""What names of temporary folders begin with."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder for what nobody keeps."""
    folder = Path(tempfile.gettempdir()) / f"{SCRATCH}{secrets.token_hex(8)}"
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    with interrupt.undone_by(remove):
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            remove()


def write_bytes(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file whole or not at all."""
    with whole_file(path, mode) as file:
        file.write(data)


def write_text(path: Path, text: str) -> None:
    """Write a text file, UTF-8, whole or not at all."""
    write_bytes(path, text.encode())
