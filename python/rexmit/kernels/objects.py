"""The objects of source trees, kept for their next build.

A tree and a configuration have a folder `.objects/KEY` beside the kernels: `tree`, the copy of what
the build needs and what make made in it; `index.json`, what of that was copied; a lock. The
makefiles know which objects a change of a file, an option or a flag outdates. What they do not
know makes a build begin from nothing here: other programs that compile, a build that did not come
to its end, a clock that was set back, a header that hides another one, a machine that was started
again (a file system may then have lost what was written last).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.kernels import cache
from rexmit.kernels.newtree import Made
from rexmit.kernels.within import files_within
from rexmit.store.files import write_text
from rexmit.store.opening import inner_folder, lasting_file

MOST_KEPT: Final = 4
"""Of how many trees and configurations objects are kept: those that were built last."""

_INDEX: Final = "index.json"
_UNFINISHED: Final = "unfinished"
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

    @property
    def tree(self) -> Path:
        """Where the copy and the objects lie."""
        return self.folder / "tree"

    def copied(self, files: dict[str, Made]) -> None:
        """Remember what was copied. Begin from nothing where a new header may hide another one:
        objects name the headers that they were made from, not those that they would now find."""
        new = {name.rpartition("/")[2] for name in files.keys() - self.files.keys()}
        headers = {name for name in new if name.endswith(".h")}
        if self.warm and any(name.rpartition("/")[2] in headers for name in self.files):
            self.clean(files)
        self.files = files
        # The tree is named for whoever looks at the folder.
        index = {"tree": self.source, "with": self.made_with, "at": time.time(), "made": files}
        write_text(self.folder / _INDEX, json.dumps(index))

    def clean(self, files: dict[str, Made]) -> None:
        """Remove all but what was copied."""
        self.warm = False
        for name in list(files_within(self.tree)):
            if name not in files:
                (self.tree / name).unlink()

    def begin(self) -> None:
        """make begins. What it leaves when it does not end by itself is not used: a file may be
        half written."""
        descriptor = lasting_file(self.folder / _UNFINISHED)
        os.fsync(descriptor)
        os.close(descriptor)

    def end(self) -> None:
        """make has ended by itself."""
        (self.folder / _UNFINISHED).unlink()


@contextlib.contextmanager
def kept(tree: Path, words: Iterable[str], compilers: str) -> Iterator[Objects | None]:
    """The objects of a tree for the configuration that `words` name, made by `compilers`; None
    while somebody else builds with them."""
    text = "\n".join([str(tree), *words])
    key = hashlib.blake2b(os.fsencode(text), digest_size=8).hexdigest()
    with cache.alone():
        folder = inner_folder(inner_folder(_root()) / key)
        lock = lasting_file(folder / "lock")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.utime(folder)
            for unused in _folders()[MOST_KEPT:]:
                cache.remove_unlocked(unused)
        except BlockingIOError:
            os.close(lock)
            lock = -1
    if lock < 0:
        yield None
        return
    try:
        made_with = f"{compilers} {_BOOT.read_text(encoding='ascii').strip()}"
        yield _opened(folder, lock, str(tree), made_with)
    finally:
        os.close(lock)


def _opened(folder: Path, lock: int, tree: str, made_with: str) -> Objects:
    objects = Objects(folder, lock, tree, made_with, {}, warm=False)
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        objects.warm = index["with"] == made_with and index["at"] <= time.time()
        objects.files = {
            name: Made(digest, tuple(ours), tuple(source) if source else None)
            for name, (digest, ours, source) in index["made"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        cache.remove(objects.tree)
        objects.warm = False
        objects.files = {}
    inner_folder(objects.tree)
    if (folder / _UNFINISHED).exists():
        objects.warm = False
    if not objects.warm:
        objects.clean(objects.files)
        (folder / _UNFINISHED).unlink(missing_ok=True)
    return objects


def _root() -> Path:
    return cache.root() / ".objects"


def _folders() -> list[Path]:
    """The one that was used last comes first."""
    folders = [path for path in _root().iterdir() if path.is_dir()] if _root().is_dir() else []
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
        for name in files_within(folder):
            with contextlib.suppress(OSError):
                total += (folder / name).lstat().st_blocks * 512
    return total
