"""Table 1 on the terminal: what the paper expects after the probe, beside what this kernel did."""

from __future__ import annotations

import textwrap
from itertools import groupby

from rich.console import Console

from rexmit.analysis.losses import numbers
from rexmit.papers.ryll_2013.table1 import Row, Sequence, Table1
from rexmit.present.grid import Cell, Column, Line, print_grid, width
from rexmit.present.terminal import is_unicode, say
from rexmit.present.text import Text
from rexmit.wording import NONE, count

#: The less frequent sequences of a row are summed up beyond this many.
_SHOWN = 4

_LEGEND = "A acknowledged, L lost, S selectively acknowledged, as the paper has the tail"
_PACKETS = "packets: lost data segments and a lost FIN of its own"
_SAME = "same: the probe is followed most often by what the paper has"
_LOSSY = "the line loses by itself: a retransmission of other data may have brought on these"


def print_table1(table: Table1, console: Console) -> None:
    """A block a network; the columns of the paper left, what was measured right."""
    title = (
        f"Table 1: what repairs a lost tail once the probe is out (configuration {table.config})"
    )
    say(console, Text(title, "bold"))
    for (network, group), rows in groupby(table.rows, lambda row: (row.network, row.group)):
        console.print()
        say(console, Text(f"{network}: {group.words}" if group.words else network, "bold cyan"))
        _print_rows(list(rows), console)
    console.print()
    notes = [_LEGEND, _SAME]
    if any(_has_fin(row) for row in table.rows):
        notes.append(_PACKETS)
    if any(row.lossy for row in table.rows):
        notes.append(_LOSSY)
    for note in notes:
        say(console, note, "dim")


def _has_fin(row: Row) -> bool:
    return row.dropped_packets != row.lost_segments


def _print_rows(rows: list[Row], console: Console) -> None:
    apart = any(_has_fin(row) for row in rows)
    arrow = " → " if is_unicode(console.encoding) else " > "
    packets = [Column("packets", right=True, before=2)] if apart else []
    columns = [
        Column("lost", right=True),
        *packets,
        Column("tail", before=2),
        Column("after\nprobe", before=2),
        Column("repair, 2013", before=2),
        Column("retransmissions here (transfers)", before=2),
        Column("same", before=2),
    ]
    measured = len(columns) - 2

    def line(row: Row, retransmissions: Cell) -> Line:
        texts: list[Cell] = [
            numbers(row.lost_segments),
            *([numbers(row.dropped_packets) or NONE] if apart else []),
            row.repair.losses,
            row.repair.after_probe,
            row.repair.name,
            retransmissions,
            {True: "yes", False: "no", None: NONE}[row.as_in_paper],
        ]
        return Line(tuple(texts))

    others = width(columns, [line(row, "") for row in rows]) - len(columns[measured].head)
    room = max(console.width - others, len(columns[measured].head))
    lines = [line(row, tuple(_retransmissions(row, arrow, room))) for row in rows]
    print_grid(columns, lines, console)


def _retransmissions(row: Row, arrow: str, room: int) -> list[str]:
    """What the transfers of a row did, the most frequent first, in lines of at most `room`."""
    items = list(row.sequences.items())
    told = [f"{sequence_words(sequence, arrow)} ({n:,})" for sequence, n in items[:_SHOWN]]
    rest = items[_SHOWN:]
    if rest:
        told.append(f"{count(len(rest), 'other sequence')} ({sum(n for _, n in rest):,})")
    if row.left_out:
        told.append(f"left out ({row.left_out:,})")
    return [
        part
        for text in told
        for part in textwrap.wrap(
            text, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    ]


def sequence_words(sequence: Sequence, arrow: str = " → ") -> str:
    """`tlp → rack`; `none` for a transfer without a retransmission."""
    return arrow.join(sequence) if sequence else "none"
