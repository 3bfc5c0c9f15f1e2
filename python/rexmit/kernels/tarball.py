"""Reads the entries of a tarball, which may be anything that somebody calls one."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Self

from rexmit.errors import UserError
from rexmit.kernels import newtree
from rexmit.kernels.compressed import Bounded, readable, uncompressed
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
_MOST_HEADERS: Final = 3 << 20
"""Bytes between the contents of two entries: the headers of the second."""


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
    path: Path, sort: Callable[[str], NewTree | None], where: str, confinement: Confinement
) -> None:
    """Put the files and links of a tarball each into the tree that `sort` has for its name.

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
        tree = sort(name)
        if not member.issparse() and (member.isdir() or tree is None):
            continue
        if tree and member.issym():
            tree.link(name, member.linkname)
        elif tree and member.isreg() and not member.issparse():
            tree.file(name, blocks, executable=bool(member.mode & 0o111))
        else:
            raise UserError(f"{where}: {printable(name)} is neither file, folder nor symbolic link")


def _members(
    path: Path, where: str, confinement: Confinement
) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    """Each entry and its content."""
    with uncompressed(path, where, "tarball", confinement) as stream:
        total = Bounded(stream, where, 2 * newtree.MOST_BYTES)
        bounded = Bounded(total, where, _MOST_HEADERS, "of headers")
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
            # Or all would be kept.
            archive.members = []  # type: ignore[attr-defined]
            archive.pax_headers = {}
            bounded.limit(2 * newtree.MOST_BYTES, "in a file")
            content = _content(archive, member, where)
            yield member, content
            # What nobody wanted is no header, however long it is.
            for _ in content:
                pass
            bounded.limit(_MOST_HEADERS, "of headers")
        else:
            raise UserError(f"{where}: more than {newtree.MOST_ENTRIES:,} files")
        # To the end, where a compressed stream has its checksum.
        bounded.limit(2 * newtree.MOST_BYTES, "at its end")
        with _readable(where):
            while bounded.read(_BLOCK):
                pass


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, where: str) -> Iterator[bytes]:
    if member.issym() or member.islnk():
        return
    with _readable(where):
        file = archive.extractfile(member)
    while file:
        with _readable(where):
            block = file.read(_BLOCK)
        if not block:
            break
        yield block


def _readable(where: str) -> AbstractContextManager[None]:
    return readable(where, "tarball", tarfile.TarError)
