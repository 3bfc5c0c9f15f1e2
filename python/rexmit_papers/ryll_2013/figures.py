"""Figures 4 and 5 of Ryll 2013 of a run, with the means of Table 4 marked in them."""

from __future__ import annotations

from dataclasses import replace

from rexmit.analysis.network import Setting
from rexmit.present.figures.plan import Figure, Mark
from rexmit.present.figures.plan import plan as plan_times
from rexmit.present.figures.series import Measure
from rexmit.present.figures.xaxis import LOSSES
from rexmit.store.open_run import Run
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import is_papers_network, printed_s

LABEL = "paper, 2013"


def plan(run: Run, lost_segments: int | None = None, *, keep_inexact: bool = False) -> list[Figure]:
    """The figures of a run: those of the paper first, then the others, with the paper's marks."""
    numbered: list[tuple[str, Figure]] = []
    others: list[Figure] = []
    for figure in plan_times(run, lost_segments, keep_inexact=keep_inexact):
        marks = [
            Mark(cell.config, figure.place(cell), mean_s)
            for cell in figure.cells
            if (mean_s := printed_s(cell, figure.setting, figure.measure)) is not None
        ]
        marked = replace(figure, marks=tuple(marks), marks_label=LABEL)
        number = _number(figure.network, figure.setting, figure.measure)
        if number is None or figure.x.name != LOSSES:
            others.append(marked)
            continue
        name = f"figure-{number}{figure.name.removeprefix(figure.stem)}"
        numbered.append((number, replace(marked, name=name)))
    return [figure for _, figure in sorted(numbered, key=lambda one: one[0])] + others


def number_of(figure: Figure) -> str | None:
    """Which of the paper's a planned figure is: `4`, `5a`; None for any other."""
    if not figure.name.startswith("figure-"):
        return None
    return _number(figure.network, figure.setting, figure.measure)


def _number(network: str, setting: Setting, measure: Measure) -> str | None:
    """`4` for t_recover of the high-speed network, `5a` to `5c` for t_total, else None."""
    if not is_papers_network(network, setting):
        return None
    if measure == "t_total":
        return f"5{paper.NETWORKS[network].letter}"
    return "4" if network == "high-speed" else None
