"""The first commit that is bad, by halves; what cannot be judged is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

from rexmit.errors import EXIT_CANNOT_TELL, EXIT_OK, UserError
from rexmit.gate.attempts import Verdict
from rexmit.gate.history import Commit, History

BAD = (Verdict.WORSE, Verdict.SPLAT)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a commit: the verdict, what shows it, the kernel (None: it was not built),
    and the command that judges it again.
    """

    verdict: Verdict
    lines: tuple[str, ...] = ()
    kernel: str | None = None
    again: str = ""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "verdict": self.verdict.value,
            "lines": list(self.lines),
            "kernel": self.kernel,
            "again": self.again,
        }


@dataclass(frozen=True, slots=True)
class Step:
    """A commit that was judged; about `left` more are to be."""

    commit: Commit
    answer: Answer
    left: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        named = {"commit": self.commit.name, "subject": self.commit.subject}
        return {**named, **self.answer.as_json()}


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: the first bad commit; or several, one of which it is, as those between could
    not be judged. `before` is the good one that came last before it.
    """

    candidates: tuple[Commit, ...]
    before: Step
    bad: Step
    steps: tuple[Step, ...]

    @property
    def first_bad(self) -> Commit | None:
        """None where one of several is."""
        return self.candidates[0] if len(self.candidates) == 1 else None

    @property
    def exit_status(self) -> int:
        """0: it is found; 125: it is one of several."""
        return EXIT_OK if self.first_bad else EXIT_CANNOT_TELL

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "first_bad": self.first_bad.name if self.first_bad else None,
            "candidates": [{"commit": one.name, "subject": one.subject} for one in self.candidates],
            "good": self.before.commit.name,
            "bad": self.bad.commit.name,
            "steps": [one.as_json() for one in self.steps],
            "exit_status": self.exit_status,
        }


def search(
    history: History,
    good: Commit,
    bad: Commit,
    judge: Callable[[Commit], Answer],
    on_step: Callable[[Step], object] | None = None,
) -> Found:
    """The first bad commit after `good`, up to `bad`, which are both judged first. Raises UserError
    where they are not what they are said to be.
    """
    if good == bad or not history.holds(good, bad):
        raise UserError(
            f"{good} does not come before {bad}", "name a good commit that the bad one has"
        )
    judged: dict[str, Step] = {}

    def ask(commit: Commit, left: int) -> Step:
        step = Step(commit, judge(commit), left)
        judged[commit.name] = step
        if on_step is not None:
            on_step(step)
        return step

    goods, worst = [good], bad
    more = _steps(len(history.between(goods, worst)))
    _hold(ask(good, more + 1), (Verdict.GOOD,))
    _hold(ask(bad, more), BAD)
    while True:
        left = history.between(goods, worst)
        unknown = [one for one in left if one not in judged]
        if not unknown:
            break
        step = ask(history.named(unknown[0]), _steps(len(left)) - 1)
        if step.answer.verdict is Verdict.GOOD:
            goods.append(step.commit)
        elif step.answer.verdict in BAD:
            worst = step.commit
    candidates = tuple(history.named(one) for one in reversed(left))
    parents = [one for one in goods if history.holds(one, worst)]
    return Found(candidates, judged[parents[-1].name], judged[worst.name], tuple(judged.values()))


def _hold(step: Step, wanted: tuple[Verdict, ...]) -> None:
    if step.answer.verdict not in wanted:
        claim = "good" if Verdict.GOOD in wanted else "bad"
        raise UserError(
            f"{step.commit} is said to be {claim}: {step.answer.verdict}", step.answer.lines
        )


def _steps(commits: int) -> int:
    """So many times they can be halved."""
    return ceil(log2(commits)) if commits > 1 else 0
