"""Tables of plain text: columns as wide as what stands in them, a line below the head.

Rich's own have no heading across columns, cut what is wider than the terminal, and end lines in
blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console

from rexmit.present.terminal import is_unicode
from rexmit.present.text import Text
from rexmit.result.blocks import BLANK, Block, Column, Grid, Line, Room


def width(grid: Grid) -> int:
    """How many characters the longest row has."""
    return _width(grid.columns, _widths(grid.columns, grid.lines))


def beside(
    names: Sequence[str], tables: Callable[[Sequence[str]], Sequence[Grid]], room: Room
) -> Iterator[Block]:
    """Tables of as many names beside each other as there is room for, then of the next; `tables`
    makes those of some.
    """
    grids: list[Grid] = []
    left = list(names)
    while left:
        number = len(left)
        while number > 1 and any(width(grid) > room.width for grid in tables(left[:number])):
            number -= 1
        grids += tables(left[:number])
        left = left[number:]
    for place, grid in enumerate(grids):
        yield from (BLANK, grid) if place else (grid,)


def print_grid(columns: Sequence[Column], lines: Sequence[Line], console: Console) -> None:
    """Nothing is cut off: a table too wide for the terminal is written wide."""
    widths = _widths(columns, lines)
    for texts in _level([column.heads for column in columns], bottom=True):
        _print(texts, columns, widths, "bold", console)
    rule = "─" if is_unicode(console.encoding) else "-"
    console.print(rule * _width(columns, widths), style="dim", soft_wrap=True)
    for line in lines:
        for texts in _level(line.cells or [[""]]):
            _print(texts, columns, widths, line.style, console)


def _width(columns: Sequence[Column], widths: Sequence[int]) -> int:
    return sum(widths) + sum(column.before for column in columns[1:])


def _widths(columns: Sequence[Column], lines: Iterable[Line]) -> list[int]:
    widths = [max(one.least, *map(cell_len, one.heads)) for one in columns]
    for line in lines:
        if line.across:
            continue
        for i, cell in enumerate(line.cells):
            widths[i] = max(widths[i], *map(cell_len, cell))
    return widths


def _level(cells: list[list[str]], *, bottom: bool = False) -> list[list[str]]:
    """Cells of several lines as lines of cells, filled up below (`bottom`: above)."""
    height = max(map(len, cells))
    fill = [[""] * (height - len(cell)) for cell in cells]
    full = [f + c if bottom else c + f for c, f in zip(cells, fill, strict=True)]
    return [list(texts) for texts in zip(*full, strict=True)]


def _print(
    texts: Sequence[str],
    columns: Sequence[Column],
    widths: Sequence[int],
    style: str,
    console: Console,
) -> None:
    parts = []
    for i, (text, column, wide) in enumerate(zip(texts, columns, widths, strict=False)):
        blank = " " * (wide - cell_len(text))
        parts.append(" " * (column.before if i else 0))
        parts.append(blank + text if column.right else text + blank)
    console.print(Text("".join(parts).rstrip(), style), soft_wrap=True)
