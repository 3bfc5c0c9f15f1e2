"""What each commit of a kernel's tree changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Final, Unpack

from rexmit import interrupt
from rexmit.errors import UserError, argument
from rexmit.gate.bisect import Step
from rexmit.gate.series import Series, judged
from rexmit.library.commits import Commits, CommitsKeywords, Judging, What
from rexmit.options import given, takes
from rexmit.progress import Hear

USUAL: Final = "gate"
"""The scenario that is run where nothing else is named."""


class Keywords(CommitsKeywords, total=False):
    """Those of `Range` as keywords."""

    commits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Commits):
    """Which commits are judged, and how. Raises UserError (usage) for what does not go together."""

    commits: str
    """BASE..HEAD, as git has it."""

    def ends(self) -> tuple[str, str]:
        """Both. Raises UserError (usage)."""
        base, dots, last = self.commits.partition("..")
        if not base or not dots or last.startswith("."):
            raise UserError(
                f"{argument('commits', self.commits)} is no range", "write BASE..HEAD", usage=True
            )
        return base, last or "HEAD"


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
    `what`: packet scripts, or a scenario, of which a commit is worse by more than `worse_than`.

    The tree is only read, and `out` keeps what was judged, as of `bisect`. Raises UserError where
    there are no such commits.
    """
    wanted = given(asked, Range, keywords)
    judging = Judging(what, wanted, progress, beside_last=True)
    names = wanted.ends()
    with interrupt.undone_by(interrupt.nothing):
        history = judging.begin(out, f"series-{wanted.commits}")
        base, last = (history.commit("commits", name) for name in names)
        commits = history.after(base, last)
        if not commits:
            raise UserError(f"{argument('commits', wanted.commits)} has no commits", usage=True)
        judge = judging.judge(replace(wanted, commits=f"{base.name}..{last.name}"))
        return judged(base, commits, judge, on_step)
