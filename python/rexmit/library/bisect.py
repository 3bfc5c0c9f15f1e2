"""The commit of a kernel's tree that made packet scripts or a scenario worse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Unpack

from rexmit import interrupt
from rexmit.gate.bisect import Found, Step, search
from rexmit.library.commits import Commits, CommitsKeywords, Judging, What
from rexmit.options import given, takes
from rexmit.progress import Hear


class Keywords(CommitsKeywords, total=False):
    """Those of `Question` as keywords."""

    good: str
    bad: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Commits):
    """Between which commits is looked for the first bad one, and how. Raises UserError (usage) for
    what does not go together.
    """

    good: str
    """A commit on whose kernel all is good."""
    bad: str = "HEAD"
    """A later one on whose kernel it is not."""


@takes(Question, Keywords)
def bisect(
    what: What,
    question: Question | None = None,
    *,
    out: str | PathLike[str] | None = None,
    on_step: Callable[[Step], object] | None = None,
    progress: Hear = None,
    **keywords: Unpack[Keywords],
) -> Found:
    """Finds the first commit after `good`, up to `bad`, of the repository `tree` on whose kernel
    `what` is worse: packet scripts (`.pkt` files, or folders of them) that `good` passes, or a
    scenario beside its run on `good`, by more than `worse_than`.

    The tree is only read, and nothing is checked out there. A commit whose source does not build,
    or of which nothing can be told, is left out. The same call goes on where it stopped: `out`, a
    folder below runs/ where it is None, keeps what was judged. `on_step` gets each commit that was
    judged.

    Raises UserError where `good` is not good, or `bad` not bad, or this machine cannot build.
    """
    asked = given(question, Question, keywords)
    judging = Judging(what, asked, progress, beside_last=False)
    with interrupt.undone_by(interrupt.nothing):
        history = judging.begin(out, f"bisect-{asked.good}-{asked.bad}")
        good, bad = history.commit("good", asked.good), history.commit("bad", asked.bad)
        judge = judging.judge(replace(asked, good=good.name, bad=bad.name))
        return search(history, good, bad, judge, on_step)
