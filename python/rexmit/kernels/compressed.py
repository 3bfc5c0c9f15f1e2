"""Reads a file that may be compressed, and may be anything, as a stream and up to a limit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from rexmit.errors import UserError
from rexmit.kernels.confine import Confinement
from rexmit.kernels.kernel import printable
from rexmit.kernels.within import Readable, mebibytes, opened

_MEMORY_MIB: Final = 1024
"""What a program that unpacks may take."""

_PROGRAMS: Final = {
    b"\xfd7zXZ\0": ("xz", "xz-utils", ("-dc", f"--memlimit-decompress={_MEMORY_MIB}MiB")),
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd", ("-dcq", f"--memory={_MEMORY_MIB}MiB")),
}
"""What unpacks a file that begins like this: the program, its Debian package, its arguments."""

UNREADABLE: Final[tuple[type[Exception], ...]] = (
    zlib.error,
    lzma.LZMAError,
    EOFError,
    ArithmeticError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading a file raises that is not what it seems: nobody wrote a list of it."""


class Bounded(io.BufferedIOBase):
    """A stream that ends with an error when more comes of it than `most` bytes of `what`."""

    def __init__(self, stream: Readable, where: str, most: int, what: str = "unpacked") -> None:
        self._stream = stream
        self._where = where
        self.limit(most, what)

    def limit(self, most: int, what: str) -> None:
        """From here on so many bytes may come, of something else."""
        self._left = most
        self._limit = f"{mebibytes(most)} {what}"

    def read(self, size: int | None = -1, /) -> bytes:
        most = self._left + 1
        data = self._stream.read(most if size is None or size < 0 else min(size, most))
        self._left -= len(data)
        if self._left < 0:
            raise UserError(f"{self._where}: more than {self._limit}")
        return data


@contextmanager
def readable(where: str, what: str, *errors: type[Exception]) -> Iterator[None]:
    """Inside, what reading raises, and these errors, are a UserError: `where` is no readable
    `what`."""
    try:
        yield
    except (*UNREADABLE, *errors) as error:
        reason = printable(str(error)) or type(error).__name__
        raise UserError(f"{where}: not a readable {what} ({reason})") from error


@contextmanager
def uncompressed(path: Path, where: str, what: str, confinement: Confinement) -> Iterator[Readable]:
    """What is compressed in a file, or the file where it is not compressed. Raises UserError."""
    # Unbuffered: another process reads on where the position is.
    with opened(path) as file:
        magic = file.read(6)
        file.seek(0)
        program = next((it for begin, it in _PROGRAMS.items() if magic.startswith(begin)), None)
        if program:
            with _by_program(program, file, where, what, confinement) as stream:
                yield stream
        elif magic.startswith(b"\x1f\x8b"):
            yield gzip.GzipFile(fileobj=file)
        elif magic.startswith(b"BZh"):
            yield bz2.BZ2File(file)
        else:
            yield file


@contextmanager
def _by_program(
    program: tuple[str, str, tuple[str, ...]],
    file: BinaryIO,
    where: str,
    what: str,
    confinement: Confinement,
) -> Iterator[Readable]:
    """What a process of its own unpacks of `file`: it has another core to itself."""
    name, package, arguments = program
    if shutil.which(name) is None:
        raise UserError(
            f"{where} is compressed with {name}, which is not installed",
            f"install it: apt-get install --no-install-recommends {package}",
        )
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            confinement.command([name, *arguments]),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=confinement.environment(os.environ),
        ) as process,
    ):
        assert process.stdout is not None  # noqa: S101
        try:
            yield process.stdout
        finally:
            process.stdout.close()
        if process.wait():
            errors.seek(0)
            reason = printable(errors.read(1000).decode(errors="replace").strip())
            raise UserError(f"{where}: not a readable {what} ({reason or f'{name} fails'})")
