"""What a search found on the terminal: the nearest benches, cell by cell, and what they share."""

from __future__ import annotations

from rich.console import Console

from rexmit.analysis.times import MEASURES
from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import NONE
from rexmit_papers.ryll_2013 import paper
from rexmit_validate.sensitivity.departures import AS_IT_IS, Row
from rexmit_validate.sensitivity.print_departures import print_off
from rexmit_validate.sensitivity.search import Bench, Search


def print_nearest(found: Search, console: Console) -> None:
    """Scores, cells, departures in common, and the command that makes the first of them."""
    base = found.start or AS_IT_IS
    say(
        console,
        Text(f"{found.benches:,} benches, the {len(found.nearest)} nearest to the paper", "bold"),
    )
    columns = [
        Column("bench", right=True),
        Column("score", right=True, before=2),
        Column("distance", right=True, before=2),
        Column("penalty", right=True, before=2),
        *(Column(f"{measure}\nnear", right=True, before=2) for measure in reversed(MEASURES)),
        Column("departures", before=3),
    ]
    benches = [("", found.base), *((str(n), one) for n, one in enumerate(found.nearest, 1))]
    print_grid(columns, [_line(name, one, base) for name, one in benches], console)
    console.print()
    rows = [Row(name or base, one.off_paper) for name, one in benches]
    for measure in reversed(MEASURES):
        print_off(found.cells, measure, rows, console)
        console.print()
    say(console, Text("What the nearest have in common", "bold"))
    columns = [
        Column("departure"),
        Column(f"of the\n{len(found.nearest)} nearest", right=True, before=2),
        Column("best score\nwith it", right=True, before=2),
        Column("best score\nwithout it", right=True, before=2),
    ]
    lines = [
        Line((one.name, str(one.nearest), _number(one.best_with), _number(one.best_without)))
        for one in found.shares
    ]
    print_grid(columns, lines, console)
    console.print()
    if found.start is not None:
        say(
            console,
            f"means: those of {found.start}, and what the model says that departures change",
            "dim",
        )
    say(
        console,
        "score: root mean square of percent off the paper, a mean that is not there counting as "
        "100, and the penalties; best scores are those of the search, of few transfers a cell",
        "dim",
    )
    say(console, f"the nearest: {found.nearest[0].command}", "dim")
    say(console, f"paper: {paper.SOURCE}", "dim")


def _line(name: str, bench: Bench, base: str) -> Line:
    near = (str(bench.near[measure]) for measure in reversed(MEASURES))
    numbers = (_number(bench.score), _number(bench.distance), _number(bench.penalty))
    return Line((name, *numbers, *near, " + ".join(bench.departures) or base))


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"
