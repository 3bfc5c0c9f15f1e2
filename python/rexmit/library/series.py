"""What each commit of a kernel's tree changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final, Unpack

from rexmit import interrupt
from rexmit.errors import UserError, argument
from rexmit.gate.bisect import Step
from rexmit.gate.history import Commit, History
from rexmit.gate.series import Series, judged
from rexmit.library.commits import Commits, CommitsKeywords, Judging, What
from rexmit.options import given, takes
from rexmit.progress import Hear

USUAL: Final = "gate"
"""The scenario that is run where nothing else is named."""


class Keywords(CommitsKeywords, total=False):
    """Those of `Range` as keywords."""

    commits: str | None
    mbox: str | PathLike[str] | None
    onto: str
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Commits):
    """Which commits are judged, and how. Raises UserError (usage) for what does not go together."""

    commits: str | None = None
    """BASE..HEAD, as git has it."""
    mbox: str | PathLike[str] | None = None
    """Or mails with patches, which are applied to the commit `onto` in a clone."""
    onto: str = "HEAD"
    seconds: float | None = None
    """So long random cases run on the first commit; the same ones run on all others."""

    def __post_init__(self) -> None:
        if (self.commits is None) is (self.mbox is None):
            both = "" if self.commits is None else ", not both"
            raise UserError(f"give {argument('commits')} or {argument('mbox')}{both}", usage=True)
        if self.commits is not None:
            base, dots, last = self.commits.partition("..")
            if not base or not dots or last.startswith("."):
                raise UserError(
                    f"{argument('commits', self.commits)} is no range",
                    "write BASE..HEAD",
                    usage=True,
                )
        if self.seconds is not None and not self.seconds > 0:
            raise UserError(f"{argument('seconds', str(self.seconds))} is not above 0", usage=True)

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.commits or f"{Path(self.mbox or '').stem}-on-{self.onto}"

    def ends(self, history: History, clone: Path) -> tuple[Commit, Commit]:
        """The commit that the series stands on, and its last one. Raises UserError."""
        if self.mbox is not None:
            base = history.commit("onto", self.onto)
            return base, history.apply(Path(self.mbox), base, clone)
        first, _, last = (self.commits or "").partition("..")
        return history.commit("commits", first), history.commit("commits", last or "HEAD")


@takes(Range, Keywords)
def series(
    what: What = USUAL,
    asked: Range | None = None,
    *,
    out: str | PathLike[str] | None = None,
    on_step: Callable[[Step], object] | None = None,
    progress: Hear = None,
    **keywords: Unpack[Keywords],
) -> Series:
    """Judges the commits BASE..HEAD of the repository `tree`, each beside the one before it, by
    `what`: packet scripts, or a scenario, of which a commit is worse by more than `worse_than`;
    and, with `seconds`, by random cases, of which is said how many differ. Patches by mail (`mbox`)
    are applied to `onto` in a clone in the place of BASE..HEAD.

    The tree is only read, and `out` keeps what was judged, as of `bisect`. Raises UserError where
    there are no such commits.
    """
    wanted = given(asked, Range, keywords)
    judging = Judging(what, wanted, progress, beside_last=True, seconds=wanted.seconds)
    with interrupt.undone_by(interrupt.nothing):
        history = judging.begin(out, f"series-{wanted.name}")
        base, last = wanted.ends(history, judging.clone)
        commits = history.after(base, last)
        if not commits:
            raise UserError(f"there are no commits in {wanted.name}", usage=True)
        names = f"{base.name}..{last.name}"
        judge = judging.judge(replace(wanted, commits=names, mbox=None, onto="HEAD"))
        return judged(base, commits, judge, on_step)
