"""What each commit of a series does, beside the one before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rexmit.gate.bisect import Answer, Step
from rexmit.gate.history import SHORT, Commit
from rexmit.gate.verdicts import status_of


@dataclass(frozen=True, slots=True)
class Series:
    """What was said of the commit that the series stands on, and of each after it."""

    steps: tuple[Step, ...]

    @property
    def exit_status(self) -> int:
        """0: no commit is worse than the one before it; 1: one is; 3: the kernel of one warned of a
        defect of its own; 125: of one nothing can be told, and none is worse."""
        return status_of(one.answer.verdict for one in self.steps)

    def table(self) -> list[str]:
        """A line for each commit, for a cover letter, with what shows its verdict below it."""
        lines = []
        for step in self.steps:
            first, *others = step.answer.lines or ("",)
            lines.append(f"{step.commit.name[:SHORT]}  {step.answer.verdict:<11}  {first}")
            lines.append(f"{'':{SHORT}}  {step.commit.subject}")
            lines += [f"{'':{SHORT}}    {line}" for line in others]
        return lines

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "commits": [one.as_json() for one in self.steps],
            "exit_status": self.exit_status,
        }


def judged(
    base: Commit,
    commits: list[Commit],
    judge: Callable[[Commit], Answer],
    on_step: Callable[[Step], object] | None = None,
) -> Series:
    """Judges each in its turn."""
    steps = []
    for number, commit in enumerate([base, *commits]):
        step = Step(commit, judge(commit), len(commits) - number)
        steps.append(step)
        if on_step is not None:
            on_step(step)
    return Series(tuple(steps))
