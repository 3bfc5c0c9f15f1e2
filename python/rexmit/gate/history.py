"""The commits of a source tree, read through a clone: the tree itself is never checked out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import UserError, argument
from rexmit.kernels.worktree import without_git

SHORT: Final = 12
"""Digits of a commit's name, as kernel developers write it."""

_OURS: Final = ("-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and what its author calls it."""

    name: str
    subject: str

    def __str__(self) -> str:
        return f'{self.name[:SHORT]} ("{self.subject}")'


class History:
    """The commits of the tree `top`, of which `clone` is a clone with files of its own; it is made
    where it is not there, and shares the objects of the tree.
    """

    def __init__(self, top: Path, clone: Path) -> None:
        if shutil.which("git") is None:
            raise UserError("git is not on PATH", "install it: apt-get install git")
        if self._run(top, "rev-parse", "--git-dir").returncode:
            raise UserError(
                f"{argument('tree')}: {top} is no repository of git", "name one", usage=True
            )
        self._top = top
        self.clone = clone
        if not (clone / ".git").is_dir():
            self._git(None, "clone", "--quiet", "--shared", "--no-checkout", str(top), str(clone))

    def commit(self, name: str, reference: str) -> Commit:
        """What a branch, a tag or a commit of the tree is; `name` is the argument that named it.
        Raises UserError (usage).
        """
        done = self._run(self._top, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
        if reference.startswith("-") or done.returncode:
            where = argument(name, reference)
            raise UserError(f"{where}: {self._top} has no such commit", usage=True)
        return self.named(done.stdout.strip())

    def holds(self, old: Commit, new: Commit) -> bool:
        """Whether `old` is `new` or came before it."""
        asked = self._run(self.clone, "merge-base", "--is-ancestor", old.name, new.name)
        return asked.returncode == 0

    def between(self, good: Iterable[Commit], bad: Commit) -> list[str]:
        """The commits that may be the first bad one, `bad` among them: those first that halve
        their number best.
        """
        words = ["rev-list", "--bisect-all", bad.name, "--not", *(one.name for one in good)]
        return [line.split()[0] for line in self._git(self.clone, *words).splitlines() if line]

    def after(self, base: Commit, last: Commit) -> list[Commit]:
        """The commits that `last` has and `base` has not, each behind those before it."""
        words = ["rev-list", "--reverse", "--topo-order", last.name, "--not", base.name]
        return [self.named(one) for one in self._git(self.clone, *words).split()]

    def check_out(self, commit: Commit) -> None:
        """Put its files into the clone."""
        self._git(self.clone, "checkout", "--quiet", "--force", "--detach", commit.name)
        self._git(self.clone, "clean", "-dffxq")

    def named(self, commit: str) -> Commit:
        """A commit by its whole name."""
        return Commit(commit, self._git(self._top, "show", "-s", "--format=%s", commit).strip())

    def _git(self, where: Path | None, *words: str) -> str:
        done = self._run(where, *words)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise UserError(f"git {words[0]} failed for {self._top}", lines)
        return done.stdout

    @staticmethod
    def _run(where: Path | None, *words: str) -> subprocess.CompletedProcess[str]:
        place: Sequence[str] = () if where is None else ("-C", str(where))
        return subprocess.run(
            ["git", *_OURS, *place, *words],
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            # It may be inside a hook, or `git bisect run`.
            env=without_git(),
        )
