"""Images, modules and configurations that are made to fill memory, or to be read for ever."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.processes import run_command

from rexmit.errors import UserError
from rexmit.kernels.images import modules, programs

from .test_images import RELEASE, bzimage, module

MEMORY = 1 << 30
ADD = """\
import resource, sys
from pathlib import Path
from rexmit.errors import UserError
from rexmit.kernels.images.add import add
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
image, folder, config = (Path(word) if word else None for word in sys.argv[2:])
try:
    add(image, module_folder=folder, config=config)
except UserError as error:
    sys.exit(f"refused: {error.what}")
"""


def refused(image: Path, *, folder: Path | None = None, config: Path | None = None) -> str:
    """Why an image is not added, by a process that has 1 GiB of memory."""
    words = [str(path or "") for path in (image, folder, config)]
    done = run_command([sys.executable, "-c", ADD, str(MEMORY), *words])
    assert done.stderr.startswith("refused: "), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


def zstd(content: bytes) -> bytes:
    """Compressed as Debian and others compress modules."""
    return subprocess.run(["zstd", "-qc"], input=content, capture_output=True, check=True).stdout


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, 1),
    ".xz": lambda content: lzma.compress(content, preset=0),
}
if shutil.which("zstd"):
    COMPRESSED[".zst"] = zstd

# The others are unpacked by programs.
SUFFIXES = [
    one if one == ".gz" else pytest.param(one, marks=pytest.mark.tools) for one in COMPRESSED
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_module_that_unpacks_without_end_is_refused(tmp_path: Path, suffix: str) -> None:
    zeros = COMPRESSED[suffix](bytes(32 << 20))
    bomb = tmp_path / "modules" / f"veth.ko{suffix}"
    bomb.parent.mkdir()
    bomb.write_bytes(COMPRESSED[suffix](b"\x7fELF\x02") + zeros * 64)
    why = refused(bzimage(tmp_path / "vmlinuz"), folder=bomb.parent)
    assert f"{bomb}: more than 64 MiB unpacked" in why


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_modules_are_read_however_they_are_compressed(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"veth.ko{suffix}").write_bytes(COMPRESSED[suffix](module("")))
    assert modules.needed(tmp_path, RELEASE) == [("veth", module(""))]


def test_what_is_not_compressed_is_bounded_as_well(tmp_path: Path) -> None:
    image = bzimage(tmp_path / "vmlinuz")
    large = tmp_path / "modules" / "veth.ko"
    large.parent.mkdir()
    large.write_bytes(b"\x7fELF\x02")
    os.truncate(large, 3 << 30)
    assert f"{large}: more than 64 MiB" in refused(image, folder=large.parent)
    config = tmp_path / "config"
    config.write_bytes(b"CONFIG_HZ=250\n")
    os.truncate(config, 3 << 30)
    why = refused(image, config=config)
    assert f"{config} is larger than 4 MiB: too large for a kernel's configuration" in why
    os.truncate(image, 3 << 30)
    assert f"{image} is larger than 256 MiB: too large for a kernel image" in refused(image)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    image, pipe = bzimage(tmp_path / "vmlinuz"), tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        assert "is no regular file" in refused(path)
        assert f"{path} is no regular file" in refused(image, config=path)


def test_a_module_that_says_too_much_of_itself_is_of_no_kernel(tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "veth.ko").write_bytes(module("," * (48 << 20)))
    assert "is a module of Linux ?" in refused(bzimage(tmp_path / "vmlinuz"), folder=folder)


def chain(folder: Path, length: int, last: str) -> None:
    """Modules of which each depends on the next."""
    for at in range(1, length):
        (folder / f"m{at}.ko").write_bytes(module(f"m{at + 1}"))
    (folder / "veth.ko").write_bytes(module("m1"))
    (folder / f"m{length}.ko").write_bytes(module(last))


def test_modules_that_depend_on_each_other_are_each_there_once(tmp_path: Path) -> None:
    chain(tmp_path, 400, "veth,m400,m200,bridge")
    (tmp_path / "bridge.ko").write_bytes(module("veth"))
    names = [name for name, _ in modules.needed(tmp_path, RELEASE)]
    assert names == ["bridge", *(f"m{at}" for at in range(400, 0, -1)), "veth"]


def test_a_guest_needs_few_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain(tmp_path, 2000, "")
    with pytest.raises(UserError, match="depend on is more than 500 modules or 128 MiB"):
        modules.needed(tmp_path, RELEASE)
    monkeypatch.setattr(modules, "MOST_FILES", 1999)
    with pytest.raises(UserError, match="has more than 1,999 files"):
        modules.needed(tmp_path, RELEASE)


def test_modules_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain(tmp_path, 10, "")
    monkeypatch.setattr(modules, "MOST_BYTES", 5 * len(module("m10")))
    with pytest.raises(UserError, match="more than 500 modules or"):
        modules.needed(tmp_path, RELEASE)


def test_folders_may_be_deep_and_names_odd(tmp_path: Path) -> None:
    top = os.open(tmp_path, os.O_RDONLY)
    at = os.dup(top)
    for _ in range(1200):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    os.close(top)
    (tmp_path / "veth.ko").write_bytes(module("odd\nname,../up"))
    (tmp_path / "odd\nname.ko").write_bytes(module(""))
    (tmp_path / os.fsdecode(b"tcp_\xff.ko")).write_bytes(module(""))
    try:
        assert [name for name, _ in modules.needed(tmp_path, RELEASE)] == ["veth"]
    finally:
        # Or pytest would fail at it.
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_what_a_guest_is_given_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / name).write_text(f"#!{tmp_path / other}\n")
    assert set(programs.files([tmp_path / "one"])) == {str(tmp_path / n) for n in ("one", "two")}
    os.truncate(tmp_path / "two", 3 << 20)
    monkeypatch.setattr(programs, "MOST_BYTES", 1 << 20)
    with pytest.raises(UserError, match=r"two is larger than .*too large for a guest"):
        programs.files([tmp_path / "one"])
