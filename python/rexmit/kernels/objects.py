"""The objects of source trees, kept for their next build.

A tree and a configuration have a folder `.objects/KEY` beside the kernels: `tree`, the copy of what
the build needs and what make made in it; `index.json`, what of that was copied, and how all of it
was left; a lock. The makefiles know which objects a change of a file, an option or a flag outdates.
What they do not know makes a build begin from nothing here: other programs that compile, a build
that did not come to its end, a clock that was set back, a header that hides another one, files that
are not as they were left, a machine that was started again (a file system may then have lost what
was written last). Without such a folder a build works all the same, from nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels import cache
from rexmit.kernels.newtree import Made, stamp
from rexmit.kernels.within import files_within
from rexmit.store.files import write_text
from rexmit.store.opening import inner_folder, lasting_file

MOST_KEPT: Final = 4
"""Of how many trees and configurations objects are kept: those that were built last."""

_INDEX: Final = "index.json"
_UNFINISHED: Final = "unfinished"
_LOCK: Final = "lock"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass
class Objects:
    """A folder of objects, locked for this process and those that have the descriptor `lock`."""

    folder: Path
    lock: int
    source: str
    made_with: str
    files: dict[str, Made]
    """What was copied, as far as it may be there still."""
    warm: bool
    """Whether there are objects that may be used."""
    steps: int = 0
    """What a build from nothing takes, as far as one came."""
    whole: bool = False
    """It came to its end."""

    @property
    def tree(self) -> Path:
        """Where the copy and the objects lie."""
        return self.folder / "tree"

    def copied(self, files: dict[str, Made]) -> None:
        """Say what was copied. Begin from nothing where a new header may hide another one: objects
        name the headers that they were made from, not those that they would now find."""
        new = {name.rpartition("/")[2] for name in files.keys() - self.files.keys()}
        headers = {name for name in new if name.endswith(".h")}
        if self.warm and any(name.rpartition("/")[2] in headers for name in self.files):
            self.warm = False
            for name in list(files_within(self.tree)):
                if name not in files:
                    (self.tree / name).unlink()
        self.files = files

    def keep(self, more: int = 0, *, whole: bool = False) -> None:
        """Keep what is there: make has come to its end, after so many steps `more`, the `whole`
        kernel or an error. Where that fails, the next build begins from nothing."""
        if not self.whole:
            self.steps, self.whole = self.steps + more, whole
        with contextlib.suppress(OSError, UserError):
            index = {
                # For whoever looks at the folder.
                "tree": self.source,
                "with": self.made_with,
                "at": time.time(),
                "steps": self.steps,
                "whole": self.whole,
                "made": self.files,
                "left": _left(self.tree),
            }
            write_text(self.folder / _INDEX, json.dumps(index))
            (self.folder / _UNFINISHED).unlink()


@contextlib.contextmanager
def kept(tree: Path, words: Iterable[str], compilers: str) -> Iterator[Objects | None]:
    """The objects of a tree for the configuration that `words` name, made by `compilers`; None
    while somebody else builds with them, or where nothing can be kept."""
    text = "\n".join([str(tree), *words])
    key = hashlib.blake2b(os.fsencode(text), digest_size=8).hexdigest()
    with contextlib.ExitStack() as stack:
        try:
            yield _taken(key, str(tree), compilers, stack)
        finally:
            stack.close()


def _taken(key: str, tree: str, compilers: str, stack: contextlib.ExitStack) -> Objects | None:
    with cache.alone():
        folder = _root() / key
        try:
            lock = _lock(folder)
        except OSError:
            # Something else has their place.
            try:
                if _root().is_symlink() or not _root().is_dir():
                    _clear(_root())
                else:
                    _clear(folder)
                lock = _lock(folder)
            except OSError:
                return None
        stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        os.utime(folder)
        for unused in _folders()[MOST_KEPT:]:
            cache.remove_unlocked(unused)
    made_with = f"{compilers} {_BOOT.read_text(encoding='ascii').strip()}"
    objects = Objects(folder, lock, tree, made_with, {}, warm=False)
    with contextlib.suppress(OSError, UserError, ValueError, KeyError, TypeError, AttributeError):
        _read(objects)
    try:
        if not objects.warm:
            objects.files = {}
            for path in folder.iterdir():
                if path.name != _LOCK:
                    _clear(path)
        # What is not left whole is not used: a file may be half written.
        os.close(lasting_file(folder / _UNFINISHED))
        inner_folder(objects.tree)
    except OSError:
        return None
    return objects


def _lock(folder: Path) -> int:
    inner_folder(inner_folder(folder.parent) / folder.name)
    return lasting_file(folder / _LOCK)


def _read(objects: Objects) -> None:
    """What was left. Raises one of many errors where that is no longer there."""
    index = json.loads((objects.folder / _INDEX).read_text(encoding="utf-8"))
    same = index["with"] == objects.made_with and index["at"] <= time.time()
    if not same or (objects.folder / _UNFINISHED).exists():
        return
    if not stat.S_ISDIR(objects.tree.lstat().st_mode):
        return
    before = {name: tuple(of) for name, of in index["left"].items()}
    if any(before.get(name) != of for name, of in _left(objects.tree).items()):
        return
    objects.files = {
        name: Made(digest, tuple(ours), tuple(source) if source else None)
        for name, (digest, ours, source) in index["made"].items()
    }
    objects.steps, objects.whole = int(index["steps"]), bool(index["whole"])
    objects.warm = True


def _left(tree: Path) -> dict[str, tuple[int, ...]]:
    """All that is there. What is missing make makes again."""
    left: dict[str, tuple[int, ...]] = {}
    folders = [""]
    # A build may have made more folders in each other than Python can count: OSError.
    while folders:
        within = folders.pop()
        with os.scandir(f"{tree}/{within}") as entries:
            for entry in entries:
                name, status = f"{within}{entry.name}", entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    folders.append(f"{name}/")
                    left[name] = (status.st_mode,)
                else:
                    left[name] = stamp(status)
    return left


def _clear(path: Path) -> None:
    """Remove whatever is there. No link is followed."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
    else:
        cache.remove(path)


def _root() -> Path:
    return cache.root() / ".objects"


def _folders() -> list[Path]:
    """The one that was used last comes first."""
    if not _root().is_dir():
        return []
    folders = [path for path in _root().iterdir() if path.is_dir() and not path.is_symlink()]
    return sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)


def remove_all() -> int:
    """Remove all objects that no build uses. Returns how many bytes that gave back."""
    before = size()
    with cache.alone():
        for folder in _folders():
            cache.remove_unlocked(folder)
    return before - size()


def size() -> int:
    """How many bytes the objects take on the disk."""
    total = 0
    for folder in _folders():
        # Somebody may remove them meanwhile.
        with contextlib.suppress(OSError, UserError):
            for name in files_within(folder):
                total += (folder / name).lstat().st_blocks * 512
    return total
