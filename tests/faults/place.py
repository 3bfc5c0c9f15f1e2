"""Where a driver works: disks, shares and folders of its own, in a mount namespace of its own.

Its disk and the place of shares (/dev/shm) are small file systems in memory, so that they can be
full without harm to anybody else, and what is left on them is of nobody else.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from rexmit import kernels

_MS_REMOUNT = 32
_MS_PRIVATE_RECURSIVE = 1 << 18 | 1 << 14
_libc = ctypes.CDLL(None, use_errno=True)


def _mount(path: Path, flags: int, options: str) -> None:
    if _libc.mount(b"none", os.fsencode(path), b"tmpfs", flags, options.encode()):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))


@dataclass(frozen=True)
class Disk:
    """A file system in memory."""

    path: Path
    megabytes: int

    def mount(self) -> None:
        """Make it. Only for who has a mount namespace of its own."""
        self.path.mkdir(exist_ok=True)
        _mount(self.path, 0, f"size={self.megabytes}m,mode=1777")

    def leave(self, kilobytes: int) -> None:
        """From here on there is room for so much more and nothing else."""
        while True:
            there = os.statvfs(self.path)
            used = (there.f_blocks - there.f_bfree) * there.f_frsize
            try:
                _mount(self.path, _MS_REMOUNT, f"size={used // 1024 + max(kilobytes, 4)}k")
                return
            except OSError as error:
                # More has been written in between.
                if error.errno != errno.EINVAL:
                    raise

    def enlarge(self) -> None:
        """It has room again."""
        _mount(self.path, _MS_REMOUNT, f"size={self.megabytes}m")

    def clear(self) -> None:
        """Remove all that is on it."""
        for entry in self.path.iterdir():
            remove(entry)

    def entries(self) -> list[str]:
        """The names of what is on it."""
        return sorted(entry.name for entry in self.path.iterdir())


class Place:
    """All folders of a driver."""

    def __init__(self, root: Path) -> None:
        if _libc.mount(b"none", b"/", None, _MS_PRIVATE_RECURSIVE, None):
            raise OSError(ctypes.get_errno(), "no mount namespace of its own")
        self.root = root
        Disk(self.root, 512).mount()
        self.disk = Disk(self.root / "disk", 96)
        self.shares = Disk(Path("/dev/shm"), 96)  # noqa: S108 - one of our own
        self.disk.mount()
        self.shares.mount()
        self.inputs, self.said = self.root / "inputs", self.root / "said"
        self.temporary, self.cache = self.root / "tmp", self.root / "cache"
        for folder in (self.inputs, self.said, self.temporary):
            folder.mkdir()
        self._kernels = kernels.cache.root()

    def shares_left(self) -> list[str]:
        """The private folders of boots that are there."""
        return sorted(str(path) for path in self.shares.path.glob("rexmit-*/share-*"))

    def fetch_kernel(self, series: str) -> None:
        """A whole kernel in the driver's own cache, and nothing else there."""
        remove(self.cache)
        pristine = self.inputs / "cache"
        if not pristine.exists():
            name = kernels.find(series).name
            shutil.copytree(self._kernels / name, pristine / "kernels" / name)
        shutil.copytree(pristine, self.cache)

    @property
    def environment(self) -> dict[str, str]:
        """What attempts get, besides what their commands add."""
        own = {"REXMIT_CACHE": str(self.cache), "TMPDIR": str(self.temporary)}
        return {**os.environ, **own, "XDG_CACHE_HOME": str(self.root / "xdg")}


def remove(path: Path) -> None:
    """Remove a file, a link or a folder, or nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
