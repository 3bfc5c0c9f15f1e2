"""Cells of two runs, or places of two traces, as lines for machines."""

from __future__ import annotations

from dataclasses import dataclass

from rexmit.comparison.gate import Gate, Judgement
from rexmit.gate.attempts import Verdict
from rexmit.gate.formats import Line


@dataclass(frozen=True, slots=True)
class Cell:
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


def lines(gate: Gate) -> list[Line]:
    """One for each cell, and for a run that lacks some."""
    labels = dict.fromkeys((*gate.labels, *(one.label for one in gate.findings)))
    return [_cell(gate, label) for label in labels]


def _cell(gate: Gate, label: str) -> Line:
    here = [one for one in gate.findings if one.label == label]
    judgements = {one.judgement for one in here}
    verdict = Verdict.GOOD
    if Judgement.WORSE in judgements:
        verdict = Verdict.WORSE
    elif Judgement.CANNOT_TELL in judgements:
        verdict = Verdict.CANNOT_TELL
    return Cell(label, verdict, tuple(f"{one.judgement}: {one.words}" for one in here))
