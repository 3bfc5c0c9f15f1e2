"""Table 4 of several runs beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rexmit.analysis import beside as of_runs
from rexmit.analysis.beside import Beside
from rexmit.analysis.times import MEASURES
from rexmit.analysis.times import Block as Cells
from rexmit.errors import UserError
from rexmit.present.beside import Heads, beside_blocks
from rexmit.result.blocks import Block, Paragraph, note
from rexmit.store.open_run import Run
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import printed_s
from rexmit_papers.ryll_2013.table4 import baseline_of, losses_of

#: How near to the paper a mean is that counts as the paper's, in percent.
NEAR_PERCENT: Final = {"t_total": 10.0, "t_recover": 5.0}

_HEADS: Final = Heads("Table 4 of the paper and of these runs", "vs 2013", "paper,\n2013")


def beside(
    runs: Sequence[Run], lost_segments: int | None = None, *, keep_inexact: bool = False
) -> Beside:
    """For so many lost segments (default: the first run's, as in Table 4). Raises UserError where a
    run has no transfer with that many, or where their baselines differ.
    """
    first, *others = (baseline_of(run) or run.transfers["config"][0] for run in runs)
    for run, other in zip(runs[1:], others, strict=True):
        if other != first:
            raise UserError(
                f"{run.path} has its percentages against {other}, {runs[0].path} against {first}",
                f"show runs that have configuration {paper.BASELINE}",
            )
    return of_runs.beside(
        runs,
        losses_of(runs[0]) if lost_segments is None else lost_segments,
        baseline=first,
        keep_inexact=keep_inexact,
        reference=_printed,
    )


def _printed(block: Cells, measure: str, config: str) -> float | None:
    cell = block.cells.get(config)
    return None if cell is None else printed_s(cell, block.setting, measure)


def near(table: Beside, run: int, measure: str) -> tuple[int, int]:
    """How many means of a run are near the paper's, and how many there are."""
    values = [
        line.values[run]
        for section in table.sections
        if section.measure == measure
        for line in section.lines
    ]
    apart = [
        100 * value.against_reference.value
        for value in values
        if value is not None and value.against_reference is not None
    ]
    return sum(abs(percent) <= NEAR_PERCENT[measure] for percent in apart), len(apart)


def table4_blocks_beside(table: Beside) -> Iterator[Block]:
    """The table, and how many means of each run are near the paper's."""
    yield from beside_blocks(table, _HEADS)
    for number, (run, ran) in enumerate(zip(table.runs, table.runners, strict=True)):
        facts = [
            f"{measure} within {NEAR_PERCENT[measure]:g}% of the paper: {n} of {every}"
            for measure in reversed(MEASURES)
            for n, every in [near(table, number, measure)]
            if every
        ]
        yield Paragraph(f"{ran.words}: {'; '.join([*facts, str(run.path)])}")
    yield note(f"paper: {paper.SOURCE}")


def beside_data(table: Beside) -> dict[str, Any]:
    """As of runs alone, and how near each is to the paper."""
    data = of_runs.beside_data(table)
    data["paper"] = paper.SOURCE
    for number, one in enumerate(data["runs"]):
        one["near_the_paper"] = {
            measure: dict(zip(("near", "of"), near(table, number, measure), strict=True))
            for measure in MEASURES
        }
    return data
