"""The sensitivity table: a line a departure, a column a cell of Table 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rexmit.analysis.times import MEASURES
from rexmit.result.blocks import BLANK, Block, Column, heading, note, table
from rexmit.wording import NONE, signed_percent
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.beside import NEAR_PERCENT
from rexmit_validate.sensitivity.departures import BenchRow, PaperMean, Sensitivity


def sensitivity_blocks(sensitivity: Sensitivity) -> Iterator[Block]:
    """A grid a measure; what is near the paper is marked."""
    recorded = [row for pair in sensitivity.recorded for row in (pair.kernel, pair.model)]
    for measure in reversed(MEASURES):
        yield from (*off_blocks(sensitivity.cells, measure, [*sensitivity.rows, *recorded]), BLANK)
    for pair in sensitivity.recorded:
        yield note(f"{pair.name}: {pair.about}")
    yield note(f"paper: {paper.SOURCE}")


def off_blocks(
    cells: Sequence[PaperMean], measure: str, rows: Iterable[BenchRow]
) -> Iterator[Block]:
    """How far rows are off the paper in the cells of one measure."""
    within = f"within {NEAR_PERCENT[measure]:g}%"
    yield heading(f"{measure}: percent off the paper; * {within}")
    chosen = [(place, cell) for place, cell in enumerate(cells) if cell.measure == measure]

    def off(place: int) -> Callable[[BenchRow], str]:
        def cell(row: BenchRow) -> str:
            off = row.off_paper[place]
            near = off is not None and abs(off) <= NEAR_PERCENT[measure]
            return NONE if off is None else signed_percent(off) + (" *" if near else "  ")

        return cell

    columns = [Column(least=20, cell=lambda row: row.name)]
    last = None
    for place, cell in chosen:
        head = (cell.network if cell.network != last else "", cell.config)
        before = 3 if cell.network != last else 1
        columns.append(Column(head, right=True, least=7, before=before, cell=off(place)))
        last = cell.network
    near = f"{within}\nof {len(chosen)}"
    columns.append(
        Column(near, right=True, before=3, cell=lambda row: str(row.near(cells, measure)))
    )
    yield table(rows, *columns)
