"""Cells of two runs, places of two traces and commits, as lines for machines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rexmit.comparison.gate import Gate, Judgement
from rexmit.gate.attempts import Verdict
from rexmit.gate.bisect import Step
from rexmit.gate.formats import JudgedItem
from rexmit.gate.verdicts import of_all

_VERDICTS: Final = {
    Judgement.WORSE: Verdict.WORSE,
    Judgement.CANNOT_TELL: Verdict.CANNOT_TELL,
    Judgement.BETTER: Verdict.GOOD,
}


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """A cell or place, and what was found there."""

    part: str
    verdict: Verdict
    why: tuple[str, ...]
    group: str = "diff"
    parts: tuple[str, ...] = ()
    virtual_s: float = 0.0

    @property
    def name(self) -> str:
        """Its label."""
        return self.part


def of_steps(steps: Iterable[Step], command: str) -> list[JudgedItem]:
    """One for each commit that the command judged."""
    return [
        JudgedCell(str(one.commit), one.answer.verdict, one.answer.lines, group=command)
        for one in steps
    ]


def lines(gate: Gate) -> list[JudgedItem]:
    """One for each cell, and for a run that lacks some."""
    labels = dict.fromkeys((*gate.labels, *(one.label for one in gate.findings)))
    return [_cell(gate, label) for label in labels]


def _cell(gate: Gate, label: str) -> JudgedItem:
    here = [one for one in gate.findings if one.label == label]
    verdict = of_all(_VERDICTS[one.judgement] for one in here)
    return JudgedCell(label, verdict, tuple(f"{one.judgement}: {one.words}" for one in here))
