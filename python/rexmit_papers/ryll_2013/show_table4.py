"""Table 4: the times of the run, the paper's figures under them."""

from __future__ import annotations

from collections.abc import Iterator

from rexmit.analysis.times import MEASURES, Times
from rexmit.analysis.times import Block as Cells
from rexmit.present.times import Row, is_short, time_blocks
from rexmit.result.blocks import Block, Room, note
from rexmit.wording import seconds, signed_percent, signed_seconds
from rexmit_papers.ryll_2013 import paper
from rexmit_papers.ryll_2013.conditions import is_papers_network
from rexmit_papers.ryll_2013.table4 import Entry, Printed, entries

_LETTER = (
    "to the letter: t_total until the FIN is sent again, t_recover until the first dropped "
    "segment is; ours wait for all that was dropped, and for any of it"
)


def table4_blocks(table: Times, room: Room, *, in_full: bool = False) -> Iterator[Block]:
    """The blocks, then what the words in them mean."""
    yield from time_blocks(
        table, room, in_full=in_full, title="Table 4", full="--table4", below=_below
    )
    if in_full or is_short(table):
        yield from map(note, (*_about_letter(table), *_about_paper(table)))


def _below(block: Cells, measure: str) -> list[Row]:
    """The rows below one time of a block."""
    by_config = entries(block, measure)
    rows: list[Row] = []
    if any(map(_parts, by_config.values())):
        letters = {c: (seconds(e.to_the_letter.mean_s), "") for c, e in by_config.items()}
        rows.append(("  to the letter", letters))
    if any(entry.paper for entry in by_config.values()):
        rows.append(("  paper", {c: _paper(e.paper) for c, e in by_config.items()}))
        rows.append(("  ours - paper", {c: _difference(e.paper) for c, e in by_config.items()}))
    return rows


def _parts(entry: Entry) -> bool:
    """The time as the paper's text defines it is another."""
    ours, letter = entry.spread.mean_s, entry.to_the_letter.mean_s
    return ours is not None and letter is not None and seconds(ours) != seconds(letter)


def _paper(printed: Printed | None) -> tuple[str, str]:
    return (seconds(printed.mean_s), signed_percent(printed.percent)) if printed else ("", "")


def _difference(printed: Printed | None) -> tuple[str, str]:
    if printed is None:
        return ("", "")
    return (signed_seconds(printed.difference_s), signed_percent(printed.difference_percent))


def _about_letter(table: Times) -> list[str]:
    every = (
        entry
        for block in table.blocks
        for measure in MEASURES
        for entry in entries(block, measure).values()
    )
    if not any(map(_parts, every)):
        return []
    return [_LETTER]


def _about_paper(table: Times) -> list[str]:
    """Whose figures stand beside ours, or why none do."""
    totals = [entry for block in table.blocks for entry in entries(block, "t_total").values()]
    if any(entry.paper for entry in totals):
        return [f"paper: {paper.SOURCE}"]
    if table.lost_segments != (paper.TABLE_4_LOSSES,):
        return [f"the paper has its Table 4 for {paper.TABLE_4_LOSSES} lost segments only"]
    theirs = [block for block in table.blocks if block.network in paper.NETWORKS]
    other = {b.network for b in theirs if not is_papers_network(b.network, b.setting)}
    notes = [
        f"not compared: the paper's {network} is {paper.NETWORKS[network].title}, without jitter"
        for network in dict.fromkeys(block.network for block in theirs)
        if network in other
    ]
    cells = [
        cell for block in theirs for cell in block.cells.values() if block.network not in other
    ]
    if any((cell.network, cell.config) in paper.TABLE_4 for cell in cells):
        notes.append(
            f"not compared: the paper had pages of {paper.SEGMENTS} segments, cubic, no loss on "
            "the line and the default receive window"
        )
    return notes
