"""Runs git on a repository of the user's or of somebody else's, and reads the files of a commit out
of its objects: no file of the tree is read or changed, and no hook runs."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final

from rexmit.errors import UserError
from rexmit.kernels.kernel import printable
from rexmit.kernels.newtree import NewTree

_OURS: Final = ("-c", "core.hooksPath=/dev/null")
_FILES: Final = ("100644", "100664", "100755")
_EXECUTABLE: Final = "100755"
_LINK: Final = "120000"
_BLOCK: Final = 1 << 20


@dataclass(frozen=True)
class At:
    """A commit by its whole name, and a repository that has its objects."""

    commit: str
    repository: Path


def without_git() -> dict[str, str]:
    """The environment, without what tells git of another repository: this may be inside a hook, or
    `git bisect run`."""
    return {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}


def run(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What git prints there, and how it ends."""
    return subprocess.run(
        _command(repository, *words),
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env=without_git(),
    )


def copy(at: At, sort: Callable[[str], NewTree | None]) -> str:
    """Copy the files and links of a commit, each into the tree that `sort` has for its name. What
    that tree has from the same object of git's is not read.

    Returns a hash of what was copied, that of a folder with the same files (`worktree.copy`).
    """
    identity = hashlib.blake2b(digest_size=16)
    with _objects(at.repository) as read:
        for mode, name, blob in sorted(_listed(at), key=lambda one: one[1]):
            tree = sort(name)
            if tree is None:
                continue
            source = (int(mode, 8), int(blob, 16))
            if mode == _LINK:
                digest = tree.link(name, os.fsdecode(b"".join(read(blob))))
            elif mode not in _FILES:
                continue
            elif tree.keep(name, None, source):
                digest = tree.made[name].digest
            else:
                content = partial(read, blob)
                executable = mode == _EXECUTABLE
                digest = tree.take(name, content, executable=executable, source=source)
            identity.update(os.fsencode(f"{name} {digest}\n"))
    return identity.hexdigest()


def _listed(at: At) -> Iterator[tuple[str, str, str]]:
    """The mode, the name and the object of each file."""
    done = subprocess.run(
        _command(at.repository, "ls-tree", "-r", "-z", "--full-tree", at.commit),
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=without_git(),
    )
    if done.returncode:
        raise failed(at.repository, "ls-tree", os.fsdecode(done.stderr))
    for line in done.stdout.split(b"\0")[:-1]:
        head, _, name = line.partition(b"\t")
        mode, _, blob = head.decode("ascii").split(" ")
        yield mode, os.fsdecode(name), blob


@contextmanager
def _objects(repository: Path) -> Iterator[Callable[[str], Iterator[bytes]]]:
    """Inside, what reads an object of the repository in blocks."""
    process = subprocess.Popen(
        _command(repository, "cat-file", "--batch"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=without_git(),
        process_group=0,
    )
    assert process.stdin is not None  # noqa: S101
    assert process.stdout is not None  # noqa: S101
    asked, answer = process.stdin, process.stdout
    try:
        yield lambda blob: _object(repository, blob, asked, answer)
    finally:
        process.kill()
        process.wait()
        answer.close()
        with suppress(BrokenPipeError):
            asked.close()


def _object(repository: Path, blob: str, asked: IO[bytes], answer: IO[bytes]) -> Iterator[bytes]:
    try:
        asked.write(f"{blob}\n".encode("ascii"))
        asked.flush()
    except BrokenPipeError:
        raise failed(repository, "cat-file", "") from None
    head = answer.readline(_BLOCK).split()
    if len(head) != len(("name", "type", "size")):
        raise failed(repository, "cat-file", f"{blob} is missing")
    left = int(head[-1])
    while left:
        block = answer.read(min(left, _BLOCK))
        if not block:
            raise failed(repository, "cat-file", f"{blob} is not whole")
        left -= len(block)
        yield block
    answer.read(len(b"\n"))


def _command(repository: Path, *words: str) -> list[str]:
    return ["git", *_OURS, "-C", str(repository), *words]


def failed(repository: Path, word: str, text: str) -> UserError:
    """What to say of it."""
    lines = [printable(line, 500) for line in text.strip().splitlines()]
    return UserError(f"git {word} failed for {repository}", lines)
