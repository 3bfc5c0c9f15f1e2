"""The kernels that are built or added: where they lie, and how they get there.

A kernel is a folder `NAME/` with `linux`, `config`, `kernel.json` and the checksums of these in it;
an image's has its `modules`, too.
It gets that name by one rename, when it is finished; whatever else lies in the cache has a name
that starts with a dot.

The locks are flock(2) itself: filelock hands no descriptor to compilers, polls while it waits, and
takes 56 ms to import.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from rexmit import interrupt
from rexmit.errors import UserError
from rexmit.kernels import checksums, recipe
from rexmit.kernels.kernel import Kernel, load
from rexmit.store import user_folder
from rexmit.store.opening import inner_folder, lasting_file, named_folder

_TEMPORARY: Final = ".new-"


def root() -> Path:
    """The folder of the kernels."""
    if given := os.environ.get("REXMIT_CACHE"):
        return Path(given).expanduser().absolute() / "kernels"
    return user_folder.cache() / "kernels"


def alone() -> AbstractContextManager[None]:
    """Hold the cache for a moment: folders in it that somebody locks do not go meanwhile."""
    named_folder(root())
    return locked(root() / ".lock")


def kernels() -> list[Kernel]:
    """All kernels in the cache, by version, HZ and patches, as far as `load` can tell."""
    present = [kernel for folder in _folders() if (kernel := load(folder))]
    return sorted(present, key=lambda k: (recipe.numbers(k.series), k.version, k.hz, k.name))


def remains() -> list[Path]:
    """The folders in the cache that should be kernels and are none."""
    return sorted(folder for folder in _folders() if load(folder) is None)


def _folders() -> list[Path]:
    if not root().is_dir():
        return []
    return [p for p in root().iterdir() if p.is_dir() and not p.name.startswith(".")]


@contextlib.contextmanager
def workplace() -> Iterator[tuple[Path, int]]:
    """A temporary folder beside the kernels, removed at the end, and its lock's file descriptor.

    The lock is held by this process and by children that are given the descriptor, so the folder
    of a builder that was killed is known as such once its last compiler has ended; such folders
    are removed here. It is a file that is locked: with the descriptor of a folder, who is confined
    could leave the sandbox.
    """
    with alone():
        for stale in root().glob(f"{_TEMPORARY}*"):
            remove_unlocked(stale)
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=root()))
        descriptor = lasting_file(folder / "lock")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with interrupt.undone_by(lambda: remove(folder)):
            yield folder, descriptor
    finally:
        remove(folder)
        os.close(descriptor)


@contextlib.contextmanager
def building(
    key: str, *, waiting: Callable[[], None], compiler: str | None = None
) -> Iterator[Kernel | None]:
    """Hold the right to build the kernel with the hash `key`; `waiting` is called if it must wait.

    Yields that kernel if it is there, built by whoever was waited for or earlier; made by this
    `compiler`, where one is named.
    """
    named_folder(root())
    with locked(inner_folder(root() / ".locks") / key, waiting=waiting):
        built = [k for k in kernels() if k.hash == key and compiler in (None, k.compiler)]
        yield next((k for k in built if checksums.fault(k) is None), None)


@contextlib.contextmanager
def locked(path: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    descriptor = lasting_file(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_unlocked(folder: Path) -> None:
    """Remove a folder unless somebody holds its lock. The caller is `alone`."""
    try:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(folder / "lock", flags)  # writes: nothing; NFS wants it so
    except OSError:
        remove(folder)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(folder)
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)


def remove(folder: Path) -> None:
    """Remove a folder as far as possible, whatever a foreign build made in it."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        # Folders that cannot be entered, or more of them in each other than Python can count.
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", folder], capture_output=True, check=False)


def install(finished: Path, name: str) -> Kernel:
    """Give a finished kernel its name in the cache. The caller holds `building`.

    What has that name already is not whole or another compiler's, or it would have been used. A
    campaign may be running on it all the same, so it is moved away, which takes no time, before it
    is removed.
    """
    checksums.write(finished)
    for path in finished.iterdir():
        _sync(path)
    _sync(finished)
    place, former = root() / name, finished.with_name("former")
    if place.exists():
        place.rename(former)
    finished.rename(place)
    _sync(root())
    kernel = load(place)
    if kernel is None or checksums.fault(kernel):
        raise UserError(f"{place} was damaged while it was written", "Is the disk full or broken?")
    return kernel


def discard(kernel: Kernel) -> None:
    """Take a kernel out of the cache again."""
    with workplace() as (work, _):
        kernel.folder.rename(work / "former")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
