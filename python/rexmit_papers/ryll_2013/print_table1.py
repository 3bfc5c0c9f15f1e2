"""Table 1 on the terminal: what the paper expects after the probe, beside what this kernel did."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console

from rexmit.analysis.losses import numbers
from rexmit.present.grid import Cell, Column
from rexmit.present.print_repairs import LOSSY, PACKETS, has_fin, print_with_sequences
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.wording import NONE
from rexmit_papers.ryll_2013.table1 import Row, Table1

_LEGEND = "A acknowledged, L lost, S selectively acknowledged, as the paper has the tail"
_SAME = "same: the probe is followed most often by what the paper has"


def print_table1(table: Table1, console: Console) -> None:
    """A block a network; the columns of the paper left, what was measured right."""
    title = (
        f"Table 1: what repairs a lost tail once the probe is out (configuration {table.config})"
    )
    say(console, Text(title, "bold"))
    places = groupby(table.rows, lambda row: (row.network, row.group))
    for (network, group), rows in places:
        console.print()
        say(console, Text(f"{network}: {group.words}" if group.words else network, "bold cyan"))
        _print_rows(list(rows), console)
    console.print()
    notes = [_LEGEND, _SAME]
    if any(has_fin(row) for row in table.rows):
        notes.append(PACKETS)
    if any(row.lossy for row in table.rows):
        notes.append(LOSSY)
    for note in notes:
        say(console, note, "dim")


def _print_rows(rows: list[Row], console: Console) -> None:
    apart = any(has_fin(row) for row in rows)
    columns = [
        Column("lost", right=True),
        *([Column("packets", right=True, before=2)] if apart else []),
        Column("tail", before=2),
        Column("after\nprobe", before=2),
        Column("repair, 2013", before=2),
    ]
    told: list[list[Cell]] = [
        [
            numbers(row.lost_segments),
            *([numbers(row.dropped_packets) or NONE] if apart else []),
            row.repair.losses,
            row.repair.after_probe,
            row.repair.name,
        ]
        for row in rows
    ]
    same = [{True: "yes", False: "no", None: NONE}[row.as_in_paper] for row in rows]
    print_with_sequences(columns, told, rows, console, (Column("same", before=2), same))
