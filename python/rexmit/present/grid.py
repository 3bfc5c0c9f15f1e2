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
from rich.text import Text

from rexmit.present.blocks import Recorder, Row, look
from rexmit.present.terminal import is_unicode


@dataclass(frozen=True)
class Column:
    """A column; `least` is the width it has at any rate, `before` the blanks left of it."""

    head: str = ""
    right: bool = False
    least: int = 0
    before: int = 1


@dataclass(frozen=True)
class Line:
    """A row of the table; a text may have several lines. Without texts an empty row. One that goes
    `across` is a heading: no column is widened for it.
    """

    texts: tuple[str, ...] = ()
    style: StyleType = ""
    across: bool = False


def width(columns: Sequence[Column], lines: Iterable[Line]) -> int:
    """How many characters the longest row has."""
    widths = _widths(columns, lines)
    return sum(widths) + sum(column.before for column in columns[1:])


def print_grid(columns: Sequence[Column], lines: Sequence[Line], console: Console) -> None:
    """Nothing is cut off: a table too wide for the terminal is written wide."""
    if isinstance(console, Recorder):
        rows = (Row(line.texts, look(line.style), line.across) for line in lines)
        console.grid([c.head for c in columns], [c.right for c in columns], rows)
        return
    widths = _widths(columns, lines)
    heads = [column.head.split("\n") for column in columns]
    for texts in _level(heads, bottom=True):
        _print(texts, columns, widths, "bold", console)
    rule = "─" if is_unicode(console.encoding) else "-"
    console.print(rule * width(columns, lines), style="dim", soft_wrap=True)
    for line in lines:
        for texts in _level([text.split("\n") for text in line.texts] or [[""]]):
            _print(texts, columns, widths, line.style, console)


def _widths(columns: Sequence[Column], lines: Iterable[Line]) -> list[int]:
    widths = [max(c.least, *(cell_len(part) for part in c.head.split("\n"))) for c in columns]
    for line in lines:
        if line.across:
            continue
        for i, text in enumerate(line.texts):
            widths[i] = max(widths[i], *(cell_len(part) for part in text.split("\n")))
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
    style: StyleType,
    console: Console,
) -> None:
    parts = []
    for i, (text, column, wide) in enumerate(zip(texts, columns, widths, strict=False)):
        blank = " " * (wide - cell_len(text))
        parts.append(" " * (column.before if i else 0))
        parts.append(blank + text if column.right else text + blank)
    console.print(Text("".join(parts).rstrip(), style), soft_wrap=True)
