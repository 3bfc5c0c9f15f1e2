"""Reads the entries of a tarball, which may be anything that somebody calls one."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, Protocol, Self

from rexmit.errors import UserError
from rexmit.kernels import newtree
from rexmit.kernels.confine import Confinement
from rexmit.kernels.kernel import printable
from rexmit.kernels.newtree import NewTree
from rexmit.kernels.within import check_name

_BLOCK: Final = 1 << 20
_LARGEST_HEADER: Final = 1 << 20
_HEADERS: Final = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)
_XZ_MEMORY: Final = "1GiB"

# What reading a tarball raises that is none: nobody wrote a list of it.
_UNREADABLE: Final = (
    tarfile.TarError,
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


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Header(tarfile.TarInfo):
    """An entry's header that is checked before anything is allocated for it.

    `tarfile` takes a header that cannot be read for the end of the tarball; here it is an error.
    """

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise  # the mark of the end
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"{error} at byte {archive.offset}") from None

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.size < 0 or (header.type in _HEADERS and header.size > _LARGEST_HEADER):
            raise tarfile.ReadError(f"a header with an impossible size of {header.size} bytes")
        return header


def extract(
    path: Path, tree: NewTree, where: str, confinement: Confinement, wanted: Callable[[str], bool]
) -> None:
    """Put the files and links of a tarball for which `wanted` holds into `tree`.

    `where` names the tarball in errors. Names are those below the one folder that holds all, if
    there is one. Raises UserError.
    """
    top: list[str] | None = None
    for member, blocks in _members(path, where, confinement):
        parts = [part for part in member.name.split("/") if part not in ("", ".")]
        if ".." in parts or member.name.startswith("/"):
            raise UserError(f"{where}: {printable(member.name)} leads out of the tarball")
        if top is None:
            # The first entry is the folder that holds the tree, or a file in it.
            top = parts[:1]
        if parts[: len(top)] != top:
            raise UserError(f"{where}: not one folder with a kernel in it")
        name = "/".join(parts[len(top) :])
        if not name:
            continue  # the folder that holds the tree
        check_name(name, where)
        if member.isdir() or not wanted(name):
            continue
        if member.issym():
            tree.link(name, member.linkname)
        elif member.isreg() and not member.issparse():
            tree.file(name, blocks, executable=bool(member.mode & 0o111))
        else:
            raise UserError(f"{where}: {printable(name)} is neither file, folder nor symbolic link")


def _members(
    path: Path, where: str, confinement: Confinement
) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    """Each entry and its content."""
    with _uncompressed(path, where, confinement) as stream:
        bounded = _Bounded(stream, where)
        with _readable(where):
            archive = tarfile.open(  # noqa: SIM115 - it opens nothing
                fileobj=bounded, mode="r|", bufsize=_BLOCK, tarinfo=_Header
            )
        for _ in range(newtree.MOST_ENTRIES):
            with _readable(where):
                member = archive.next()
            if member is None:
                break
            if member.size < 0:
                raise UserError(f"{where}: not a readable tarball (a size below 0)")
            archive.members = []  # type: ignore[attr-defined] # or all would be kept
            yield member, _content(archive, member, where)
        else:
            raise UserError(f"{where}: more than {newtree.MOST_ENTRIES:,} files")
        # To the end, where a compressed stream has its checksum.
        with _readable(where):
            while bounded.read(_BLOCK):
                pass


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, where: str) -> Iterator[bytes]:
    with _readable(where):
        file = archive.extractfile(member)
    while file:
        with _readable(where):
            block = file.read(_BLOCK)
        if not block:
            break
        yield block


@contextmanager
def _readable(where: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        said = printable(str(error)) or type(error).__name__
        raise UserError(f"{where}: not a readable tarball ({said})") from error


class _Bounded(io.BufferedIOBase):
    """A stream that ends with an error when more comes than any kernel has."""

    def __init__(self, stream: _Stream, where: str) -> None:
        self._stream = stream
        self._where = where
        self._left = 2 * newtree.MOST_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._stream.read(-1 if size is None else size)
        self._left -= len(data)
        if self._left < 0:
            raise UserError(f"{self._where}: more than {2 * newtree.MOST_BYTES >> 30} GiB unpacked")
        return data


@contextmanager
def _uncompressed(path: Path, where: str, confinement: Confinement) -> Iterator[_Stream]:
    """The tar in a tarball."""
    # Unbuffered: another process reads on where the position is.
    with path.open("rb", buffering=0) as file:
        magic = file.read(6)
        file.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            yield gzip.GzipFile(fileobj=file)
        elif magic.startswith(b"BZh"):
            yield bz2.BZ2File(file)
        elif magic == b"\xfd7zXZ\0":
            with _xz(file, where, confinement) as stream:
                yield stream
        else:
            yield file


@contextmanager
def _xz(file: IO[bytes], where: str, confinement: Confinement) -> Iterator[_Stream]:
    """What is compressed in `file`, by a process of its own: it has another core to itself."""
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            confinement.command(["xz", "-dc", f"--memlimit-decompress={_XZ_MEMORY}"]),
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=confinement.environment(os.environ),
        ) as xz,
    ):
        assert xz.stdout is not None  # noqa: S101
        try:
            yield xz.stdout
        finally:
            xz.stdout.close()
        if xz.wait():
            errors.seek(0)
            said = printable(errors.read(1000).decode(errors="replace").strip())
            raise UserError(f"{where}: not a readable tarball ({said or 'xz fails'})")
