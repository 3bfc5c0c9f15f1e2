"""Where kernels come from, and which patches they get."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from rexmit.errors import UserError
from rexmit.kernels import recipe, source, tools
from rexmit.kernels.build import build

from .conftest import MAKEFILE, Tree, visible

# A kernel is not begun where what builds it is missing.
pytestmark = pytest.mark.tools


@pytest.mark.parametrize(
    ("name", "flags", "folder"),
    [
        ("linux.tar.xz", "J", True),
        ("linux.tar.gz", "z", True),
        ("linux.tar", "", True),
        ("flat.tar.xz", "J", False),
    ],
)
def test_tarballs(tree: Tree, tmp_path: Path, name: str, flags: str, folder: bool) -> None:
    tree.write("arch/arm/Kconfig", "kept\n")
    tree.write("arch/arm/core.c", "left out\n")
    members = tree.path.name if folder else "."
    path = tree.tarball(tmp_path / name, flags=flags, members=members)
    kernel, new = build(str(path))
    assert new
    assert kernel.version == "6.12.9"
    assert kernel.source == f"tarball {path}"
    assert build(str(path)) == (kernel, False)


def test_debian_packages_are_tarballs_with_a_place(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "DEBIAN_SOURCES", tmp_path)
    path = tree.tarball(tmp_path / "linux-source-6.12.tar.xz", flags="J", members=tree.path.name)
    kernel, new = build()
    assert new
    assert kernel.source == f"debian {path}"
    assert build() == (kernel, False)


def test_a_missing_package_is_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "DEBIAN_SOURCES", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match=r"linux-source-6\.12 is not installed") as caught:
        build()
    assert "sudo apt-get install --no-install-recommends linux-source-6.12" in str(
        caught.value.hint
    )


APT = """\
#!/bin/sh
echo "$*" >> "$0.calls"
touch "$(dirname "$0")/linux-source-6.12.tar.xz"
"""


def test_a_package_is_installed_only_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "DEBIAN_SOURCES", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    apt = tmp_path / "apt-get"
    apt.write_text(APT)
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UserError, match=r"linux-source-6\.12 is not installed") as caught:
        build()
    assert "--install" in str(caught.value.hint)
    with pytest.raises(UserError, match=r"no patches for Linux 5\.15"):
        build("5.15", install=True)
    assert not Path(f"{apt}.calls").exists()
    # What is there now is no tarball.
    with pytest.raises(UserError, match=r"6\.12: not a readable tarball"):
        build(install=True)
    (call,) = Path(f"{apt}.calls").read_text().splitlines()
    assert call.endswith("install --yes --no-install-recommends linux-source-6.12")


def test_a_package_that_apt_does_not_have_is_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "DEBIAN_SOURCES", tmp_path)
    apt = tmp_path / "apt-cache"
    apt.write_text("#!/bin/sh\necho linux-source; echo linux-source-6.1; echo linux-source-6.12\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(UserError, match=r"apt knows no Debian package linux-source-6\.6") as caught:
        build("6.6")
    hint = str(caught.value.hint)
    assert "it has linux-source-6.1, linux-source-6.12" in hint
    assert "apt-get install" not in hint
    with pytest.raises(UserError, match=r"linux-source-6\.12 is not installed"):
        build("6.12")


def test_missing_programs_are_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="gcc, make, ld") as caught:
        tools.require()
    assert "binutils bison flex gcc make patch xz-utils" in str(caught.value.hint).replace(
        "bc ", ""
    )


@pytest.mark.parametrize("content", [b"", b"no tarball", b"\xfd7zXZ\0 cut short"])
def test_what_is_no_tarball_is_refused(tmp_path: Path, content: bytes, cache_root: Path) -> None:
    path = tmp_path / "linux.tar.xz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"linux\.tar\.xz"):
        build(str(path))
    assert visible(cache_root) == []


@pytest.mark.parametrize("name", ["linux/../../new/escaped", "linux/link/escaped"])
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    path = tmp_path / "linux.tar"
    outside = tmp_path / "outside"
    outside.mkdir()
    with tarfile.open(path, "w") as archive:
        makefile = tarfile.TarInfo("linux/Makefile")
        makefile.size = len(MAKEFILE)
        archive.addfile(makefile, io.BytesIO(MAKEFILE.encode()))
        link = tarfile.TarInfo("linux/link")
        link.type, link.linkname = tarfile.SYMTYPE, str(outside)
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo(name))
    with pytest.raises(UserError, match="leads out"):
        build(str(path))
    assert list(outside.iterdir()) == []
    assert not [p for p in tmp_path.rglob("*") if p.name in ("escaped", "new")]


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        build(str(tmp_path / "none"))
    with pytest.raises(UserError, match="is not a kernel source tree"):
        build(str(tmp_path))


@pytest.mark.parametrize(
    ("tree_series", "patches_of"),
    [("6.1", "6.1"), ("6.11", "others"), ("6.12", "6.12"), ("7.0", "others")],
)
def test_patches_are_the_series_own_or_those_for_all_others(
    tree_series: str, patches_of: str
) -> None:
    assert recipe.series_for(tree_series) == patches_of


def test_a_series_that_is_too_old_is_refused(tree: Tree, cache_root: Path) -> None:
    tree.write("Makefile", MAKEFILE.replace("VERSION = 6", "VERSION = 5", 1))
    with pytest.raises(UserError, match=r"no patches for Linux 5\.12") as caught:
        build(str(tree.path))
    assert "6.1." in str(caught.value.hint)
    assert visible(cache_root) == []


def test_versions() -> None:
    assert source.version(MAKEFILE, "it") == "6.12.9"
    candidate = MAKEFILE.replace("SUBLEVEL = 9", "SUBLEVEL = 0").replace(
        "EXTRAVERSION =", "EXTRAVERSION = -rc3"
    )
    assert source.version(candidate, "it") == "6.12.0-rc3"
    with pytest.raises(UserError, match="it is not a kernel source"):
        source.version("all:\n", "it")


@pytest.mark.parametrize(
    "name",
    [
        "net/ipv4/tcp.c",
        "arch/x86/um/x.S",
        "arch/arm64/Kconfig",
        "drivers/gpu/drm/Makefile",
        "Documentation/Kconfig",
        "drivers/net/veth.c",
        "include/sound/core.h",
    ],
)
def test_needed_files(name: str) -> None:
    assert source.wanted(name)


@pytest.mark.parametrize(
    "name", ["arch/arm64/mm/fault.c", "drivers/gpu/drm/drm.h", "Documentation/index.rst"]
)
def test_files_that_are_left_out(name: str) -> None:
    assert not source.wanted(name)
