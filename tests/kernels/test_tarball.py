"""Tarballs that somebody crafted: one clear line each, and nothing outside or left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rexmit.errors import UserError
from rexmit.kernels import newtree
from rexmit.kernels.build import build

from .conftest import MAIN, MAKEFILE, Tree, visible

# A kernel is not begun where what builds it is missing.
pytestmark = pytest.mark.tools

Add = Callable[[tarfile.TarFile], None]


def _file(name: str, text: str = "x", **fields: object) -> Add:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(text)
        for key, value in fields.items():
            setattr(info, key, value)
        archive.addfile(info, io.BytesIO(text.encode()))

    return add


def _entry(name: str, kind: bytes, target: str = "", **fields: object) -> Add:
    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        for key, value in fields.items():
            setattr(info, key, value)
        archive.addfile(info)

    return add


def _link(name: str, target: str) -> Add:
    return _entry(name, tarfile.SYMTYPE, target)


def _raw(kind: bytes, size: int, data: bytes = b"") -> Add:
    """A header with any size, and what follows it."""

    def add(archive: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("linux/x")
        info.type, info.size = kind, size
        assert archive.fileobj
        archive.fileobj.write(info.tobuf(tarfile.GNU_FORMAT) + data.ljust(-len(data) % 512, b"\0"))
        archive.offset = archive.fileobj.tell()

    return add


def _tarball(path: Path, *entries: Add) -> Path:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for add in (_file("linux/Makefile", MAKEFILE), _file("linux/main.c", MAIN), *entries):
            add(archive)
    return path


def _refused(path: Path, cache_root: Path) -> str:
    """The one line that is said; nothing is left."""
    before = sorted(p for p in path.parent.rglob("*") if cache_root.parent not in p.parents)
    with pytest.raises(UserError) as caught:
        build(str(path))
    assert "\n" not in caught.value.what
    assert caught.value.what.isprintable()
    assert len(caught.value.what) < 400
    assert visible(cache_root) == []
    after = sorted(p for p in path.parent.rglob("*") if cache_root.parent not in p.parents)
    assert [p for p in after if p.name not in ("cache", "guest.calls")] == [
        p for p in before if p.name not in ("cache", "guest.calls")
    ]
    return caught.value.what


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([_file("linux/../escaped")], "leads out"),
        ([_file("/linux/escaped")], "leads out"),
        ([_link("linux/up", ".."), _file("linux/up/a/b/escaped")], "no folder"),
        ([_file("linux/x", pax_headers={"path": "linux/a\0b"})], "impossible file name"),
        ([_file(f"linux/{'n' * 300}")], "impossible file name"),
        ([_file(f"linux/{'d/' * 600}n")], "impossible file name"),
        (
            [_file("linux/a\x1b[31m\u202e" + "n" * 300)],
            r"impossible file name a\\u001b\[31m\\u202e",
        ),
        ([_entry("linux/hard", tarfile.LNKTYPE, "linux/main.c")], "neither file, folder nor"),
        ([_entry("linux/null", tarfile.CHRTYPE)], "neither file, folder nor"),
        ([_entry("linux/disk", tarfile.BLKTYPE)], "neither file, folder nor"),
        ([_entry("linux/pipe", tarfile.FIFOTYPE)], "neither file, folder nor"),
        ([_file("linux/main.c")], "twice"),
        ([_link("linux/main.c", "x")], "twice"),
        ([_file("linux/main.c/below")], "no folder"),
        ([_link("linux/loop", "loop"), _file("linux/loop/below")], "no folder"),
        ([_file("other/file")], "not one folder"),
        ([_link("linux/empty", "")], "impossible target"),
        ([_link("linux/long", "t" * 5000)], "impossible target"),
        ([_raw(tarfile.XHDTYPE, 1 << 40)], "impossible size"),
        ([_raw(tarfile.GNUTYPE_LONGNAME, 1 << 40)], "impossible size"),
        ([_raw(tarfile.REGTYPE, 1 << 60)], "not a readable tarball|leads|more than"),
        ([_file("linux/odd", pax_headers={"size": "-5"})], "tarball"),
        ([_file("linux/odd", pax_headers={"GNU.sparse.map": "x,y"})], "tarball"),
        ([_file("linux/odd", pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})], "."),
        (
            [_file("linux/holes", pax_headers={"GNU.sparse.map": "0,1", "GNU.sparse.size": "9"})],
            "neither",
        ),
        (
            # A map of holes that is as long as the file.
            [
                _file(
                    "linux/holes",
                    "1000000000\n" + "0\n" * (4 << 20),
                    pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"},
                )
            ],
            "more than 3 MiB of headers",
        ),
        (
            # Nobody reads it, or it would be read for ever.
            [
                _file(
                    "linux/Documentation/holes",
                    pax_headers={"GNU.sparse.map": f"{1 << 60},1", "GNU.sparse.size": str(2 << 60)},
                )
            ],
            "neither",
        ),
    ],
)
def test_entries_that_no_kernel_has(
    tmp_path: Path, cache_root: Path, entries: list[Add], said: str
) -> None:
    path = _tarball(tmp_path / "linux.tar", *entries)
    what = _refused(path, cache_root)
    assert what.startswith(str(path))
    assert re.search(said, what)


def test_nothing_is_made_through_a_link_before_it_is_refused(
    tmp_path: Path, cache_root: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    path = _tarball(
        tmp_path / "linux.tar", _link("linux/link", str(outside)), _file("linux/link/a/b/c")
    )
    _refused(path, cache_root)
    assert list(outside.iterdir()) == []


def test_headers_of_headers_come_to_an_end(tmp_path: Path, cache_root: Path) -> None:
    nested = [_raw(tarfile.XHDTYPE, 0)] * 3000
    assert "tarball" in _refused(_tarball(tmp_path / "linux.tar", *nested), cache_root)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.97])
def test_a_tarball_that_is_cut_short(
    tree: Tree, tmp_path: Path, cache_root: Path, pack: Callable[[bytes], bytes], part: float
) -> None:
    # The content is such that it cannot be made much smaller.
    tree.write("noise", "".join(f"{n * n * 7919:x}" for n in range(4000)))
    whole = tree.tarball(tmp_path / "whole.tar", flags="", members=tree.path.name).read_bytes()
    end = len(whole.rstrip(b"\0")) + 511 & ~511
    packed = pack(whole[:end]) if pack is bytes else pack(whole)
    path = tmp_path / "linux.tar"
    path.write_bytes(packed[: int(len(packed) * part)])
    assert "not a readable tarball" in _refused(path, cache_root)


def test_a_tarball_that_ends_between_two_entries(tree: Tree, tmp_path: Path) -> None:
    whole = tree.tarball(tmp_path / "linux.tar", flags="", members=tree.path.name)
    content = whole.read_bytes()
    end = len(content.rstrip(b"\0")) + 511 & ~511
    whole.write_bytes(content[:end])
    with pytest.raises(UserError, match="not a readable tarball"):
        build(str(whole))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_changed_bit_in_a_compressed_tarball(
    tree: Tree, tmp_path: Path, cache_root: Path, pack: Callable[[bytes], bytes]
) -> None:
    content = tree.tarball(tmp_path / "w.tar", flags="", members=tree.path.name).read_bytes()
    packed = bytearray(pack(content))
    packed[len(packed) * 2 // 3] ^= 0x10
    path = tmp_path / "linux.tar"
    path.write_bytes(packed)
    _refused(path, cache_root)


def test_a_tarball_without_end(
    tmp_path: Path, cache_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newtree, "MOST_BYTES", 1 << 20)
    plain = _tarball(tmp_path / "linux.tar", _file("linux/zeros", "\0" * (2 << 20)))
    bomb = tmp_path / "bomb.tar.gz"
    bomb.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert "more than" in _refused(bomb, cache_root)
    # Also where its files are none that the build needs.
    large = _file("linux/Documentation/zeros", "\0" * (3 << 20))
    path = _tarball(tmp_path / "linux.tar", large)
    bomb.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    assert "more than" in _refused(bomb, cache_root)


def test_a_tarball_with_too_many_entries(
    tmp_path: Path, cache_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newtree, "MOST_ENTRIES", 20)
    path = _tarball(tmp_path / "linux.tar", *(_file(f"linux/{n}") for n in range(30)))
    assert "more than 20 files" in _refused(path, cache_root)
    path = _tarball(tmp_path / "linux.tar", *(_file(f"linux/Documentation/{n}") for n in range(30)))
    assert "more than 20 files" in _refused(path, cache_root)


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "Makefile"])
def test_a_makefile_elsewhere_is_none(tmp_path: Path, cache_root: Path, target: str) -> None:
    path = tmp_path / "linux.tar"
    with tarfile.open(path, "w") as archive:
        _link("linux/Makefile", target)(archive)
    assert "has no Makefile" in _refused(path, cache_root)


@pytest.mark.parametrize(
    "line", ["PATCHLEVEL = x", "PATCHLEVEL = ../../x", "EXTRAVERSION = " + "-x" * 200]
)
def test_a_version_that_is_none(tree: Tree, cache_root: Path, line: str) -> None:
    name = line.partition(" ")[0]
    old = next(each for each in MAKEFILE.splitlines() if each.startswith(name))
    tree.write("Makefile", MAKEFILE.replace(old, line))
    with pytest.raises(UserError, match="states the version"):
        build(str(tree.path))
    assert visible(cache_root) == []


def test_a_flat_tarball_keeps_the_names_of_its_hidden_files(tree: Tree, tmp_path: Path) -> None:
    tree.write(".hidden", "")
    tree.hook("test -e .hidden")
    build(str(tree.tarball(tmp_path / "flat.tar", flags="", members=".")))
