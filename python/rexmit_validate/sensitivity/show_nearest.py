"""What a search found: the nearest benches, cell by cell, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rexmit.analysis.times import MEASURES
from rexmit.result.blocks import BLANK, Block, Column, heading, note, table
from rexmit.wording import known
from rexmit_papers.ryll_2013 import paper
from rexmit_validate.sensitivity.departures import AS_IT_IS, BenchRow
from rexmit_validate.sensitivity.search import Bench, Search
from rexmit_validate.sensitivity.show_departures import off_blocks


def nearest_blocks(search: Search) -> Iterator[Block]:
    """Scores, cells, departures in common, and the command that makes the first of them."""
    base = search.start or AS_IT_IS
    yield heading(f"{search.benches:,} benches, the {len(search.nearest)} nearest to the paper")
    benches = [("", search.base), *((str(n), one) for n, one in enumerate(search.nearest, 1))]

    def near(measure: str) -> tuple[str, Callable[[tuple[str, Bench]], str]]:
        return f"{measure}\nnear", lambda row: str(row[1].near[measure])

    yield table(
        benches,
        Column("bench", right=True, cell=lambda row: row[0]),
        ("score", lambda row: _number(row[1].score)),
        ("distance", lambda row: _number(row[1].distance)),
        ("penalty", lambda row: _number(row[1].penalty)),
        *([("held out", lambda row: _number(row[1].held_out))] if search.hold_out else []),
        *map(near, reversed(MEASURES)),
        Column("departures", before=3, cell=lambda row: " + ".join(row[1].departures) or base),
    )
    yield BLANK
    rows = [BenchRow(name or base, one.off_paper) for name, one in benches]
    for measure in reversed(MEASURES):
        yield from (*off_blocks(search.cells, measure, rows), BLANK)
    yield heading("What the nearest have in common")
    yield table(
        search.shares,
        Column("departure", cell=lambda one: one.name),
        (f"of the\n{len(search.nearest)} nearest", lambda one: str(one.nearest)),
        ("best score\nwith it", lambda one: _number(one.best_with)),
        ("best score\nwithout it", lambda one: _number(one.best_without)),
    )
    yield BLANK
    if search.start is not None:
        what = "what the model says that departures change"
        yield note(f"means: those of {search.start}, and {what}")
    if search.hold_out is not None:
        yield note(f"score and distance: of all means but those of {search.hold_out}, held out")
    yield note(
        "score: root mean square of percent off the paper, a mean that is not there counting as "
        "100, and the penalties; best scores are those of the search, of few transfers a cell"
    )
    yield note(f"the nearest: {search.nearest[0].command}")
    yield note(f"paper: {paper.SOURCE}")


def _number(value: float | None) -> str:
    return known(value, "{:.1f}".format)
