"""Private temporary folders for boots that do not pile up and that nobody else can get at.

They stand in a folder of the user's own, so that a name taken by somebody else blocks nobody. A
program that is killed outright cannot clean up. So each folder is locked by its owner, and whoever
makes one first removes those whose owner is gone.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rexmit import interrupt
from rexmit.errors import UserError
from rexmit.store.files import owned, sweep

_NAME: Final = "rexmit"
_NEEDED_BYTES: Final = 1 << 20
_NEEDED_FILES: Final = 16


def _roots() -> Iterator[Path]:
    """Where a user's folder may stand: memory first."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_absolute() and _is_private(Path(runtime)):
        yield Path(runtime)
    temporary = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 - only for folders of our own
    for path in (Path("/dev/shm"), Path(temporary)):  # noqa: S108
        if path.is_dir() and os.access(path, os.W_OK):
            yield path


def temporary_root() -> Path:
    """The user's folder, made if need be. Raises UserError where there is no room for one."""
    full: dict[str, None] = {}
    for root in _roots():
        if _has_room(root):
            return _own_folder(root)
        full[f"{root} (it has {_size(root) >> 20} MiB)"] = None
    if not full:
        raise UserError(
            "there is no place for the kernel's shared folder", "TMPDIR names one to write in"
        )
    raise UserError(
        f"the file system of the kernel's shared folder is full: {', '.join(full)}",
        "make room there, or set TMPDIR to a folder on another",
    )


def _has_room(root: Path) -> bool:
    disk = os.statvfs(root)
    enough = disk.f_bavail * disk.f_frsize >= _NEEDED_BYTES
    # Some file systems do not count files.
    return enough and (disk.f_files == 0 or disk.f_favail >= _NEEDED_FILES)


def _size(root: Path) -> int:
    disk = os.statvfs(root)
    return disk.f_blocks * disk.f_frsize


def _is_private(path: Path) -> bool:
    """A folder, not a link to one, that is ours and closed to others."""
    try:
        status = path.lstat()
    except OSError:
        return False
    ours = status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0
    return stat.S_ISDIR(status.st_mode) and ours


def _own_folder(root: Path) -> Path:
    """The user's folder below `root`. Another name serves where somebody has taken the first."""
    name = f"{_NAME}-{os.geteuid()}"
    first = root / name
    with contextlib.suppress(FileExistsError):
        first.mkdir(mode=0o700)
    if _is_private(first):
        return first
    for path in sorted(root.glob(f"{name}-*")):
        if _is_private(path):
            return path
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root))


class PrivateFolder:
    """A folder of this process alone, until `remove`."""

    def __init__(self) -> None:
        root = temporary_root()
        sweep(root.glob("share-*"))
        self.path, self._lock = owned(lambda: Path(tempfile.mkdtemp(prefix="share-", dir=root)))
        self._held = True
        interrupt.begin(self.remove)

    def remove(self) -> None:
        """Remove it and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held:
            self._held = False
            os.close(self._lock)
        interrupt.finish(self.remove)
