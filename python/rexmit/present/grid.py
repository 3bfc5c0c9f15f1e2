"""Tables of plain text: columns as wide as what stands in them, a line below the head.

Rich's own have no heading across columns, cut what is wider than the terminal, and end lines in
blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.style import StyleType

from rexmit.escaping import shown
from rexmit.present.blocks import Recorder, Row, look
from rexmit.present.terminal import is_unicode
from rexmit.present.text import Text


@dataclass(frozen=True)
class Column:
    """A column; `least` is the width it has at any rate, `before` the blanks left of it. A `head`
    may have several lines; names in it are `shown`.
    """

    head: str = ""
    right: bool = False
    least: int = 0
    before: int = 1


Cell = str | tuple[str, ...]
"""What stands in a column of a row: a line, or several."""


@dataclass(frozen=True)
class Line:
    """A row of the table. Without texts an empty row. One that goes `across` is a heading: no
    column is widened for it.
    """

    texts: tuple[Cell, ...] = ()
    style: StyleType = ""
    across: bool = False


def width(columns: Sequence[Column], lines: Iterable[Line]) -> int:
    """How many characters the longest row has."""
    widths = _widths(columns, lines)
    return sum(widths) + sum(column.before for column in columns[1:])


def print_grid(columns: Sequence[Column], lines: Sequence[Line], console: Console) -> None:
    """Nothing is cut off: a table too wide for the terminal is written wide."""
    if isinstance(console, Recorder):
        rows = (
            Row(tuple(map("\n".join, _cells(line))), look(line.style), line.across)
            for line in lines
        )
        console.grid([c.head for c in columns], [c.right for c in columns], rows)
        return
    widths = _widths(columns, lines)
    for texts in _level(_heads(columns), bottom=True):
        _print(texts, columns, widths, "bold", console)
    rule = "─" if is_unicode(console.encoding) else "-"
    console.print(rule * width(columns, lines), style="dim", soft_wrap=True)
    for line in lines:
        for texts in _level(_cells(line) or [[""]]):
            _print(texts, columns, widths, line.style, console)


def _widths(columns: Sequence[Column], lines: Iterable[Line]) -> list[int]:
    heads = _heads(columns)
    widths = [max(c.least, *map(cell_len, head)) for c, head in zip(columns, heads, strict=True)]
    for line in lines:
        if line.across:
            continue
        for i, cell in enumerate(_cells(line)):
            widths[i] = max(widths[i], *map(cell_len, cell))
    return widths


def _heads(columns: Iterable[Column]) -> list[list[str]]:
    return [list(map(shown, column.head.split("\n"))) for column in columns]


def _cells(line: Line) -> list[list[str]]:
    """The lines of each cell, as they are shown."""
    return [list(map(shown, [cell] if isinstance(cell, str) else cell)) for cell in line.texts]


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
    style: StyleType,
    console: Console,
) -> None:
    parts = []
    for i, (text, column, wide) in enumerate(zip(texts, columns, widths, strict=False)):
        blank = " " * (wide - cell_len(text))
        parts.append(" " * (column.before if i else 0))
        parts.append(blank + text if column.right else text + blank)
    console.print(Text("".join(parts).rstrip(), style), soft_wrap=True)
