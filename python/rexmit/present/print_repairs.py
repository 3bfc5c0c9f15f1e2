"""What retransmitted lost tails, on the terminal: a row for each configuration and the numbers of
lost segments that were repaired in the same ways.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console

from rexmit.analysis.losses import numbers
from rexmit.analysis.repairs import Mechanisms, Repair, alike
from rexmit.present.grid import Cell, Column, Line, print_grid, width
from rexmit.present.terminal import is_unicode, say
from rexmit.present.text import Text
from rexmit.wording import NONE, count

#: The less frequent sequences of a row are summed up beyond this many.
_SHOWN = 4

PACKETS = "packets: lost data segments and a lost FIN of its own"
LOSSY = "the line loses by itself: a retransmission of other data may have brought on these"


def print_repairs(rows: Sequence[Repair], console: Console) -> None:
    """A block a network and group."""
    say(console, Text("What retransmitted the lost tail, in order (transfers)", "bold"))
    for (network, group), mine in groupby(alike(rows), lambda row: (row.network, row.group)):
        console.print()
        say(console, Text(f"{network}: {group.words}" if group.words else network, "bold cyan"))
        _print_rows(list(mine), console)
    notes = [PACKETS] if any(map(has_fin, rows)) else []
    notes += [LOSSY] if any(row.lossy for row in rows) else []
    if notes:
        console.print()
    for note in notes:
        say(console, note, "dim")


def has_fin(row: Repair) -> bool:
    """Whether a FIN of its own was dropped in any of the row's transfers."""
    return row.dropped_packets != row.lost_segments


def _print_rows(rows: list[Repair], console: Console) -> None:
    apart = any(map(has_fin, rows))
    columns = [Column("configuration"), Column("lost", right=True, before=2)]
    columns += [Column("packets", right=True, before=2)] if apart else []
    told: list[list[Cell]] = [
        [
            row.config,
            numbers(row.lost_segments),
            *([numbers(row.dropped_packets) or NONE] if apart else []),
        ]
        for row in rows
    ]
    print_with_sequences(columns, told, rows, console)


def print_with_sequences(
    columns: list[Column],
    told: Iterable[list[Cell]],
    rows: Sequence[Repair],
    console: Console,
    behind: tuple[Column, list[str]] | None = None,
) -> None:
    """A grid of what is told of each row, its sequences, and a column behind them."""
    arrow = " → " if is_unicode(console.encoding) else " > "
    head = Column("retransmissions (transfers)", before=2)
    ends = [[text] for text in behind[1]] if behind else [[] for _ in rows]
    whole = [*columns, head, *([behind[0]] if behind else [])]
    cells = list(told)
    bare = [Line((*texts, "", *end)) for texts, end in zip(cells, ends, strict=True)]
    room = max(console.width - width(whole, bare) + len(head.head), len(head.head))
    lines = [
        Line((*texts, tuple(_sequences(row, arrow, room)), *end))
        for texts, row, end in zip(cells, rows, ends, strict=True)
    ]
    print_grid(whole, lines, console)


def _sequences(row: Repair, arrow: str, room: int) -> list[str]:
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


def sequence_words(sequence: Mechanisms, arrow: str = " → ") -> str:
    """`tlp → rack`; `none` for a transfer without a retransmission."""
    return arrow.join(sequence) if sequence else "none"
