"""Table 1 on the terminal: what the paper expects after the probe, beside what this kernel did."""

from __future__ import annotations

from itertools import groupby

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rexmit.tables.table1 import Row, Sequence, Table1
from rexmit.tables.table4 import numbers
from rexmit.tables.terminal import NONE, is_unicode

#: The less frequent sequences of a row are summed up beyond this many.
_SHOWN = 4

_NOTES = (
    "A acknowledged, L lost, S selectively acknowledged; tail: before, probed: after the probe.",
    "packets: lost data segments and a lost FIN of its own.",
    "same: the probe is followed most often by what the paper has.",
)


def print_table1(table: Table1, console: Console) -> None:
    """A block a network; the columns of the paper left, what was measured right."""
    console.print()
    for (network, group), rows in groupby(table.rows, lambda row: (row.network, row.group)):
        console.print()
        console.print(Text(f"{network}: {group.words}" if group.words else network, "bold cyan"))
        console.print(_grid(list(rows), console))
    console.print()
    for note in _NOTES:
        console.print(note, style="dim", soft_wrap=True)


def _grid(rows: list[Row], console: Console) -> Table:
    grid = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    apart = any(row.dropped_packets != row.lost_segments for row in rows)
    grid.add_column("lost", justify="right", no_wrap=True)
    if apart:
        grid.add_column("packets", justify="right", no_wrap=True)
    grid.add_column("tail", no_wrap=True)
    grid.add_column("probed", no_wrap=True)
    grid.add_column("repair, 2013", no_wrap=True)
    grid.add_column("resends here (transfers)", overflow="fold")
    grid.add_column("same", no_wrap=True)
    arrow = " → " if is_unicode(console.encoding) else " > "
    for row in rows:
        grid.add_row(
            numbers(row.lost_segments),
            *([numbers(row.dropped_packets) or NONE] if apart else []),
            row.repair.losses,
            row.repair.after_probe,
            row.repair.name,
            "\n".join(_lines(row, arrow)),
            {True: "yes", False: "no", None: NONE}[row.as_in_paper],
        )
    return grid


def _lines(row: Row, arrow: str) -> list[str]:
    items = list(row.sequences.items())
    lines = [f"{sequence_words(sequence, arrow)} ({n})" for sequence, n in items[:_SHOWN]]
    rest = items[_SHOWN:]
    if rest:
        lines.append(f"{len(rest)} other sequences ({sum(n for _, n in rest)})")
    if row.left_out:
        lines.append(f"left out ({row.left_out})")
    return lines


def sequence_words(sequence: Sequence, arrow: str = " → ") -> str:
    """`tlp → rack`; `none` for a transfer without a resend."""
    return arrow.join(sequence) if sequence else "none"
