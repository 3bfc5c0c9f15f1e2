"""Private temporary folders for boots, on a tmpfs where there is one, that do not pile up.

A program that is killed outright cannot clean up. So each folder holds a lock of its owner's, which
the kernel lets go whatever the owner's end is, and whoever makes a folder first removes those whose
owner is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, Final

from rexmit import interrupt

_PREFIX: Final = "rexmit-"
_LOCK: Final = "lock"


def temporary_root() -> Path:
    """Where the folders are made."""
    shm = Path("/dev/shm")  # noqa: S108 - only a place to make private folders in
    return shm if shm.is_dir() and os.access(shm, os.W_OK) else Path(tempfile.gettempdir())


class PrivateFolder:
    """A folder of this process alone, until `remove`."""

    def __init__(self) -> None:
        root = temporary_root()
        _sweep(root)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        interrupt.begin(self.remove)
        self._lock = _locked(self.path)

    def remove(self) -> None:
        """Remove it and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()
        interrupt.finish(self.remove)


def _locked(folder: Path) -> IO[bytes]:
    fresh = folder / ".lock"
    lock = fresh.open("wb")
    fcntl.flock(lock, fcntl.LOCK_EX)
    # It gets its name when it is locked: a lock by that name that can be had has no owner.
    fresh.rename(folder / _LOCK)
    return lock


def _sweep(root: Path) -> None:
    for path in root.glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), path.open("rb") as lock:
            if os.fstat(lock.fileno()).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.parent, ignore_errors=True)
