"""The commits of a source tree: it is only read, and nothing is checked out."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import UserError, argument
from rexmit.kernels import git
from rexmit.kernels.git import At
from rexmit.store.files import remove

SHORT: Final = 12
"""Digits of a commit's name, as kernel developers write it."""

_COMMITTER: Final = ("-c", "user.name=rexmit", "-c", "user.email=rexmit@localhost")
_AM: Final = ("--3way", "--no-gpg-sign", "--committer-date-is-author-date")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, and what its author calls it."""

    name: str
    subject: str

    def __str__(self) -> str:
        return f'{self.name[:SHORT]} ("{self.subject}")'


class History:
    """The commits of the tree `top`."""

    def __init__(self, top: Path) -> None:
        if shutil.which("git") is None:
            raise UserError("git is not on PATH", "install it: apt-get install git")
        if git.run(top, "rev-parse", "--git-dir").returncode:
            raise UserError(
                f"{argument('tree')}: {top} is no repository of git", "name one", usage=True
            )
        self.top = top
        self._repository = top

    def commit(self, name: str, reference: str) -> Commit:
        """What a branch, a tag or a commit of the tree is; `name` is the argument that named it.
        Raises UserError (usage).
        """
        done = git.run(self.top, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}")
        if reference.startswith("-") or done.returncode:
            where = argument(name, reference)
            raise UserError(f"{where}: {self.top} has no such commit", usage=True)
        return self.named(done.stdout.strip())

    def holds(self, old: Commit, new: Commit) -> bool:
        """Whether `old` is `new` or came before it."""
        asked = git.run(self._repository, "merge-base", "--is-ancestor", old.name, new.name)
        return asked.returncode == 0

    def between(self, good: Iterable[Commit], bad: Commit) -> list[str]:
        """The commits that may be the first bad one, `bad` among them: those first that halve
        their number best.
        """
        words = ["rev-list", "--bisect-all", bad.name, "--not", *(one.name for one in good)]
        return [line.split()[0] for line in self._git(*words).splitlines() if line]

    def after(self, base: Commit, last: Commit) -> list[Commit]:
        """The commits that `last` has and `base` has not, each behind those before it."""
        words = ["rev-list", "--reverse", "--topo-order", last.name, "--not", base.name]
        return [self.named(one) for one in self._git(*words).split()]

    def at(self, commit: Commit) -> At:
        """Where its files are."""
        return At(commit.name, self._repository)

    def apply(self, mbox: Path, base: Commit, clone: Path) -> Commit:
        """The last of the commits that these mails make on `base`, the same ones every time. They
        lie in a new `clone`, which has no files but those that they change. Raises UserError for
        mails that do not apply.
        """
        if (clone / ".git" / "objects" / "info" / "alternates").exists():
            remove(clone)
        self._git("clone", "--quiet", "--shared", "--no-checkout", ".", str(clone.absolute()))
        self._repository = clone
        self._git("sparse-checkout", "set", "--no-cone", "/.git")
        self._git("checkout", "--quiet", "--detach", base.name)
        done = git.run(clone, *_COMMITTER, "am", "--quiet", *_AM, str(mbox.absolute()))
        if done.returncode:
            lines = (done.stderr + done.stdout).strip().splitlines()
            raise UserError(f"{argument('mbox')} {mbox} does not apply to {base}", lines)
        return self.named(self._git("rev-parse", "HEAD").strip())

    def named(self, commit: str) -> Commit:
        """A commit by its whole name."""
        return Commit(commit, self._git("show", "-s", "--format=%s", commit).strip())

    def _git(self, *words: str) -> str:
        done = git.run(self._repository, *words)
        if done.returncode:
            raise git.failed(self._repository, words[0], done.stderr)
        return done.stdout
