"""What retransmitted lost tails, on the terminal: a row for each configuration and the numbers of
lost segments that were repaired in the same ways.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from rexmit.analysis.axes import AxisGroup
from rexmit.analysis.losses import numbers
from rexmit.analysis.repairs import Mechanisms, Repair, alike
from rexmit.present.grid import width
from rexmit.result.blocks import (
    BLANK,
    Block,
    Cell,
    Column,
    Grid,
    Paragraph,
    Room,
    heading,
    note,
    table,
)
from rexmit.wording import NONE, count

#: The less frequent sequences of a row are summed up beyond this many.
_SHOWN = 4

PACKETS = "packets: lost data segments and a lost FIN of its own"
LOSSY = "the line loses by itself: a retransmission of other data may have brought on these"


def repair_blocks(rows: Sequence[Repair], room: Room) -> Iterator[Block]:
    """A block a network and group."""
    yield heading("What retransmitted the lost tail, in order (transfers)")
    for (network, group), mine in groupby(alike(rows), lambda row: (row.network, row.group)):
        yield from place(network, group)
        yield _table(list(mine), room)
    notes = [PACKETS] if any(map(has_fin, rows)) else []
    notes += [LOSSY] if any(row.lossy for row in rows) else []
    if notes:
        yield BLANK
    yield from map(note, notes)


def place(network: str, group: AxisGroup) -> Iterator[Block]:
    """Stands above what is of a network, and of a group of settings."""
    yield BLANK
    yield Paragraph(f"{network}: {group.words}" if group.words else network, "bold cyan")


def has_fin(row: Repair) -> bool:
    """Whether a FIN of its own was dropped in any of the row's transfers."""
    return row.dropped_packets != row.lost_segments


def _table(rows: list[Repair], room: Room) -> Grid:
    apart = any(map(has_fin, rows))
    columns = [
        Column("configuration", cell=lambda row: row.config),
        Column("lost", right=True, before=2, cell=lambda row: numbers(row.lost_segments)),
    ]
    return with_sequences([*columns, *dropped(apart=apart)], rows, room)


def dropped(*, apart: bool) -> list[Column]:
    """How many packets were dropped, where these are others than the lost segments."""
    cell = Column(
        "packets", right=True, before=2, cell=lambda row: numbers(row.dropped_packets) or NONE
    )
    return [cell] if apart else []


def with_sequences(
    columns: Sequence[Column], rows: Sequence[Repair], room: Room, behind: Sequence[Column] = ()
) -> Grid:
    """A table of rows with their sequences, and columns behind these."""
    arrow = " → " if room.has_arrows else " > "
    head = "retransmissions (transfers)"

    def whole(cell: Callable[[Repair], Cell]) -> Grid:
        return table(rows, *columns, Column(head, before=2, cell=cell), *behind)

    left = room.width - width(whole(lambda _: "")) + len(head)
    return whole(lambda row: tuple(_sequences(row, arrow, max(left, len(head)))))


def _sequences(row: Repair, arrow: str, left: int) -> list[str]:
    """What the transfers of a row did, the most frequent first, in lines of at most `left`."""
    items = list(row.sequences.items())
    texts = [f"{sequence_words(sequence, arrow)} ({n:,})" for sequence, n in items[:_SHOWN]]
    rest = items[_SHOWN:]
    if rest:
        texts.append(f"{count(len(rest), 'other sequence')} ({sum(n for _, n in rest):,})")
    if row.left_out:
        texts.append(f"left out ({row.left_out:,})")
    return [
        part
        for text in texts
        for part in textwrap.wrap(
            text, left, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
    ]


def sequence_words(sequence: Mechanisms, arrow: str = " → ") -> str:
    """`tlp → rack`; `none` for a transfer without a retransmission."""
    return arrow.join(sequence) if sequence else "none"
