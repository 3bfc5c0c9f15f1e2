"""The sensitivity table on the terminal: a line a departure, a column a cell of Table 4."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from rexmit.analysis.times import MEASURES
from rexmit.escaping import shown
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import NONE, signed_percent
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.beside import NEAR_PERCENT
from rexmit_validate.sensitivity.departures import Cell, Row, Sensitivity


def print_sensitivity(table: Sensitivity, console: Console) -> None:
    """A grid a measure; what is near the paper is marked."""
    recorded = [row for pair in table.recorded for row in (pair.kernel, pair.model)]
    for measure in reversed(MEASURES):
        print_off(table.cells, measure, [*table.rows, *recorded], console)
        console.print()
    for pair in table.recorded:
        say(console, f"{pair.name}: {pair.about}", "dim")
    say(console, f"paper: {paper.SOURCE}", "dim")


def print_off(cells: Sequence[Cell], measure: str, rows: Iterable[Row], console: Console) -> None:
    """How far rows are off the paper in the cells of one measure."""
    within = f"within {NEAR_PERCENT[measure]:g}%"
    say(console, Text(f"{measure}: percent off the paper; * {within}", "bold"))
    chosen = [index for index, cell in enumerate(cells) if cell.measure == measure]
    columns = [Column(least=20)]
    last = None
    for index in chosen:
        cell = cells[index]
        network = shown(cell.network) if cell.network != last else ""
        head = f"{network}\n{shown(cell.config)}"
        columns.append(Column(head, right=True, least=7, before=3 if cell.network != last else 1))
        last = cell.network
    columns.append(Column(f"{within}\nof {len(chosen)}", right=True, before=3))
    lines = []
    for row in rows:
        texts = [row.name]
        for index in chosen:
            off = row.off_paper[index]
            near = off is not None and abs(off) <= NEAR_PERCENT[measure]
            texts.append(NONE if off is None else signed_percent(off) + (" *" if near else "  "))
        texts.append(str(row.near(cells, measure)))
        lines.append(Line(tuple(texts)))
    print_grid(columns, lines, console)
