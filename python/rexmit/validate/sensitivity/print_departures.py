"""The sensitivity table on the terminal: a line a departure, a column a cell of Table 4."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from rexmit.papers.ryll_2013 import paper
from rexmit.papers.ryll_2013.beside import NEAR_PERCENT
from rexmit.papers.ryll_2013.table4 import MEASURES
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.validate.sensitivity.departures import Sensitivity
from rexmit.wording import NONE, signed_percent


def print_sensitivity(table: Sensitivity, console: Console) -> None:
    """A grid a measure; what is near the paper is marked."""
    for measure in reversed(MEASURES):
        within = f"within {NEAR_PERCENT[measure]:g}%"
        say(console, Text(f"{measure}: percent off the paper; * {within}", "bold"))
        chosen = [index for index, cell in enumerate(table.cells) if cell.measure == measure]
        columns = [Column(least=20)]
        last = None
        for index in chosen:
            cell = table.cells[index]
            head = f"{cell.network if cell.network != last else ''}\n{cell.config}"
            before = 3 if cell.network != last else 1
            columns.append(Column(head, right=True, least=7, before=before))
            last = cell.network
        columns.append(Column(f"{within}\nof {len(chosen)}", right=True, before=3))
        rows = []
        for row in table.rows:
            texts = [row.name]
            for index in chosen:
                off = row.off_paper[index]
                near = off is not None and abs(off) <= NEAR_PERCENT[measure]
                texts.append(
                    NONE if off is None else signed_percent(off) + (" *" if near else "  ")
                )
            texts.append(str(row.near(table.cells, measure)))
            rows.append(Line(tuple(texts)))
        print_grid(columns, rows, console)
        console.print()
    say(console, f"paper: {paper.SOURCE}", "dim")
