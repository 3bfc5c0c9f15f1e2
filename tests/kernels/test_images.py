"""Kernel images: what is taken for one, which modules a guest gets, and how it is packed."""

from __future__ import annotations

import gzip
import lzma
import struct
import subprocess
from pathlib import Path

import pytest
from tests.tools import needs

import rexmit
from rexmit import kernels
from rexmit.errors import UserError
from rexmit.kernels.images import cpio, header, modules
from rexmit.kernels.images import programs as files
from rexmit.kernels.images.add import add

RELEASE = "6.1.0-9-test"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def bzimage(path: Path, release: str = RELEASE) -> Path:
    """A file with the header of an image."""
    head = bytearray(0x400)
    head[0x202:0x206] = b"HdrS"
    text = f"{release} (somebody@somewhere) #1 SMP".encode()
    head[0x20E:0x210] = struct.pack("<H", 0x100)
    head[0x300 : 0x300 + len(text)] = text
    path.write_bytes(bytes(head) + b"code")
    path.with_name(f"config-{release}").write_text("CONFIG_HZ=250\n", encoding="ascii")
    return path


def module(depends: str, release: str = RELEASE) -> bytes:
    """An ELF file with a section .modinfo, as far as it is looked at."""
    info = f"license=GPL\0depends={depends}\0vermagic={release} SMP mod_unload \0".encode()
    names = b"\0.modinfo\0.shstrtab\0"
    at = 64
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 1, 62, 1) + bytes(16)
    sections_at = at + len(info) + len(names)
    head += struct.pack("<QIHHHHHH", sections_at, 0, 64, 0, 0, 64, 3, 2)
    section = "<IIQQQQIIQQ"
    headers = bytes(64)
    headers += struct.pack(section, 1, 1, 0, 0, at, len(info), 0, 0, 1, 0)
    headers += struct.pack(section, 10, 3, 0, 0, at + len(info), len(names), 0, 0, 1, 0)
    return head + info + names + headers


def tree(top: Path) -> Path:
    """A folder of modules, one compressed in each way."""
    folder = top / RELEASE / "kernel" / "net"
    folder.mkdir(parents=True)
    (folder / "veth.ko").write_bytes(module(""))
    with lzma.open(folder / "sch_netem.ko.xz", "wb") as packed:
        packed.write(module(""))
    with gzip.open(folder / "nfnetlink_queue.ko.gz", "wb") as packed:
        packed.write(module("nfnetlink"))
    (folder / "nfnetlink.ko").write_bytes(module(""))
    (folder / "nf_tables.ko").write_bytes(module("nfnetlink,lib-crc32c"))
    (folder / "lib-crc32c.ko").write_bytes(module(""))
    (folder / "ext9.ko").write_bytes(module(""))
    (folder / "ipv4").mkdir()
    (folder / "ipv4" / "tcp_bbr.ko").write_bytes(module(""))
    return top


def test_the_header_says_which_kernel_it_is(tmp_path: Path) -> None:
    assert header.release(bzimage(tmp_path / "vmlinuz")) == RELEASE
    assert header.series(RELEASE) == "6.1"


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "empty"), (b"\x7fELF" + bytes(2000), "ELF"), (b"#!/bin/sh\n" * 99, "no header")],
)
def test_what_is_no_image_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(UserError, match=f"no kernel image: .*{why}") as refused:
        add(tmp_path / "x")
    assert refused.value.exit_status == 2
    assert kernels.kernels() == []


@needs("xz")
def test_an_image_is_a_kernel_of_the_cache(tmp_path: Path) -> None:
    image = bzimage(tmp_path / "vmlinuz")
    kernel, new = add(image, module_folder=tree(tmp_path / "modules"))
    assert new
    assert (kernel.name, kernel.version, kernel.hz, kernel.engine) == (
        RELEASE,
        RELEASE,
        250,
        "qemu",
    )
    assert kernels.find(RELEASE) == kernel == kernels.find(RELEASE[:7])
    assert add(image, module_folder=tmp_path / "modules") == (kernel, False)
    assert kernel.path.read_bytes() == image.read_bytes()
    # A series means a kernel that was built.
    with pytest.raises(UserError, match=r"kernel 6\.1 is not built"):
        kernels.find("6.1")
    [listed] = rexmit.list_kernels()
    assert listed.fault is None
    assert listed.as_json()["engine"] == "qemu"
    (kernel.folder / "modules").write_bytes(b"others")
    with pytest.raises(UserError, match="modules"):
        kernels.find(RELEASE)


def test_another_image_needs_another_name(tmp_path: Path) -> None:
    add(bzimage(tmp_path / "vmlinuz"))
    other = bzimage(tmp_path / "other")
    other.write_bytes(other.read_bytes() + b"more")
    with pytest.raises(UserError, match="another kernel with the name"):
        add(other)
    mine, new = add(other, name="mine")
    assert (mine.name, new) == ("mine", True)
    # The same again is no other, whatever else has this content.
    second, _ = add(other, name="second")
    assert add(other, name="mine") == (mine, False)
    assert add(other, name="second") == (second, False)
    for name in ("6.1", "a/b", ".x", "a+b"):
        with pytest.raises(UserError, match="cannot be the name"):
            add(other, name=name)


def test_the_configuration_is_needed(tmp_path: Path) -> None:
    image = bzimage(tmp_path / "vmlinuz")
    config = tmp_path / f"config-{RELEASE}"
    config.write_text("CONFIG_NET=y\n", encoding="ascii")
    with pytest.raises(UserError, match="CONFIG_HZ"):
        add(image)
    config.unlink()
    with pytest.raises(UserError, match="not beside it"):
        add(image)
    (tmp_path / "mine").write_text("CONFIG_HZ=1000\n", encoding="ascii")
    assert add(image, config=tmp_path / "mine")[0].hz == 1000


@needs("xz")
def test_modules_come_after_what_they_need(tmp_path: Path) -> None:
    found = [name for name, _ in modules.needed(tree(tmp_path), RELEASE)]
    assert set(found) == {
        *("veth", "sch_netem", "nfnetlink", "nfnetlink_queue", "nf_tables", "lib_crc32c"),
        "tcp_bbr",
    }
    assert found.index("nfnetlink") < found.index("nfnetlink_queue") < found.index("tcp_bbr")
    assert found.index("lib_crc32c") < found.index("nf_tables")


def test_modules_of_another_kernel_are_refused(tmp_path: Path) -> None:
    tree(tmp_path)
    with pytest.raises(UserError, match=rf"Linux {RELEASE}, and the image is 6\.1\.9"):
        modules.needed(tmp_path / RELEASE, "6.1.9")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no modules"):
        modules.needed(tmp_path / "empty", RELEASE)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        # A block of a kind that there is not.
        (
            "veth.ko.gz",
            gzip.compress(b"", mtime=0)[:10] + b"\x07" + bytes(20),
            "not a readable module",
        ),
        # Its sections lie beyond all memory.
        ("veth.ko", b"\x7fELF\x02" + b"\xff" * 200, r"of Linux \?"),
    ],
    ids=["unpacking", "sections"],
)
def test_modules_that_are_damaged_are_named(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=why):
        modules.needed(tmp_path, RELEASE)


@needs("cpio")
def test_cpio_reads_our_archives(tmp_path: Path) -> None:
    packed = cpio.archive({"/a/b": cpio.file(b"text", executable=True), "/l": cpio.link("a/b")})
    subprocess.run(["cpio", "-i", "--quiet"], input=packed, cwd=tmp_path, check=True)
    assert (tmp_path / "l").read_text(encoding="ascii") == "text"


def test_a_program_comes_with_its_libraries(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env sh\necho\n", encoding="ascii")
    script.chmod(0o755)
    found = files.files([script])
    assert str(script) in found
    assert any("libc.so" in path for path in found)
    assert found == files.files([script])


def test_without_qemu_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="not installed") as missing:
        rexmit.add_kernel(bzimage(tmp_path / "vmlinuz"))
    assert "qemu-system-x86" in str(missing.value.hint)
    assert kernels.kernels() == []
