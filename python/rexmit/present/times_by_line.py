"""Times of a run with many settings or numbers of lost segments: a line for each instead of a
block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from rexmit.analysis.times import TIMES, Block, Times
from rexmit.present.grid import beside
from rexmit.result.blocks import BLANK, Cell, Column, Grid, Line, Paragraph, Room, note
from rexmit.result.blocks import Block as Printed
from rexmit.statistics.words import Unit, gain
from rexmit.statistics.words import width as half
from rexmit.wording import NONE, count

_TIME, _HALF, _PERCENT = 8, 5, 5

#: What a table tells of a configuration in a block: a text, and beside it half the interval's width
#: and a percentage.
Tell = Callable[[Block, str], tuple[Cell, str, str]]


def line_blocks(table: Times, unit: Unit, room: Room, full: str) -> Iterator[Printed]:
    """A network after the other: both times, what made the first retransmission, and how many
    transfers the means are over. `full` is the option that asks for blocks.
    """
    base = next((block.group for block in table.blocks if block.group.is_base), None)
    if base:
        yield Paragraph(f"base: {base.words}; the others depart from it in one setting each")
    for _, blocks in groupby(table.blocks, lambda block: block.network):
        yield from _network(list(blocks), unit, room, apart=len(table.lost_segments) > 1)
    yield BLANK
    each = "a block for each line, with intervals, percentiles, standard deviations"
    yield note(f"{full} prints {each}")


def _network(blocks: list[Block], unit: Unit, room: Room, *, apart: bool) -> Iterator[Printed]:
    first = blocks[0]
    title = first.setting.title
    yield BLANK
    yield Paragraph(f"{first.network}: {title}" if title else first.network, "bold cyan")
    tables: list[tuple[str, Tell]] = [
        (measure, _time(measure, unit))
        for measure in TIMES
        if any(e.spread.n for block in blocks for e in block.entries(measure).values())
    ]
    cells = [cell for block in blocks for cell in block.cells.values()]
    if any(cell.first_retransmission for cell in cells):
        tables.append(("first retransmission", _first))
    if len({cell.used for cell in cells}) > 1 or any(cell.left_out for cell in cells):
        tables.append(("transfers used", _used))

    def side_by_side(configs: Sequence[str]) -> list[Grid]:
        return [_grid(*one, blocks, configs, apart=apart) for one in tables]

    yield from beside(first.configs, side_by_side, room)
    if tables[-1][1] is not _used:
        yield note(f"n: {count(cells[0].used, 'transfer')} a mean")


def _grid(
    name: str, tell: Tell, blocks: list[Block], configs: Sequence[str], *, apart: bool
) -> Grid:
    columns = [Column(name)]
    for config in configs:
        columns.append(Column((config,), right=True, least=_TIME, before=2))
        columns += [Column(right=True, least=wide) for wide in (_HALF, _PERCENT)]
    lines = []
    for block in blocks:
        label = f"{block.lost_segments} lost" if apart else block.group.words
        if block.group.is_base:
            label = "base"
        texts = [text for config in configs for text in tell(block, config)]
        lines.append(Line((label, *texts), "bold" if block.group.is_base else ""))
    return Grid(tuple(columns), tuple(lines))


def _time(measure: str, unit: Unit) -> Tell:
    def tell(block: Block, config: str) -> tuple[Cell, str, str]:
        entry = block.entries(measure)[config]
        mean = unit.text(entry.spread.mean_s)
        return mean, half(entry.spread.estimate), gain(entry.gain)

    return tell


def _first(block: Block, config: str) -> tuple[Cell, str, str]:
    cell = block.cells.get(config)
    return (tuple(cell.first_words) if cell and block.lost_segments else NONE, "", "")


def _used(block: Block, config: str) -> tuple[Cell, str, str]:
    cell = block.cells.get(config)
    return (f"{cell.used} of {cell.transfers}" if cell else "", "", "")
