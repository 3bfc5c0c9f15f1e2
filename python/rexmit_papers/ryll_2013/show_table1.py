"""Table 1: what the paper expects after the probe, beside what this kernel did."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rexmit.analysis.losses import numbers
from rexmit.present.repairs import LOSSY, PACKETS, dropped, has_fin, place, with_sequences
from rexmit.result.blocks import BLANK, Block, Column, Grid, Room, heading, note
from rexmit.wording import NONE
from rexmit_papers.ryll_2013.table1 import Table1, Table1Row

_LEGEND = "A acknowledged, L lost, S selectively acknowledged, as the paper has the tail"
_SAME = "same: the probe is followed most often by what the paper has"


def table1_blocks(table: Table1, room: Room) -> Iterator[Block]:
    """A block a network; the columns of the paper left, what was measured right."""
    yield heading(
        f"Table 1: what repairs a lost tail once the probe is out (configuration {table.config})"
    )
    for (network, group), rows in groupby(table.rows, lambda row: (row.network, row.group)):
        yield from place(network, group)
        yield _grid(list(rows), room)
    yield BLANK
    notes = [_LEGEND, _SAME]
    if any(has_fin(row) for row in table.rows):
        notes.append(PACKETS)
    if any(row.lossy for row in table.rows):
        notes.append(LOSSY)
    yield from map(note, notes)


def _grid(rows: list[Table1Row], room: Room) -> Grid:
    columns = [
        Column("lost", right=True, cell=lambda row: numbers(row.lost_segments)),
        *dropped(apart=any(map(has_fin, rows))),
        Column("tail", before=2, cell=lambda row: row.repair.losses),
        Column("after\nprobe", before=2, cell=lambda row: row.repair.after_probe),
        Column("repair, 2013", before=2, cell=lambda row: row.repair.name),
    ]
    words = {True: "yes", False: "no", None: NONE}
    same = Column("same", before=2, cell=lambda row: words[row.as_in_paper])
    return with_sequences(columns, rows, room, [same])
