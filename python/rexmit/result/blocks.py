"""Sentences, labelled facts and tables: what a result says, before anybody shows it.

Texts are as their writers chose them. Names in them are escaped where they are shown: those of a
table in `seen`, all others by the terminal's texts and the page's data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from rexmit.escaping import shown
from rexmit.values import dataclass

Row = TypeVar("Row")

Cell = str | tuple[str, ...]
"""What stands in a column of a row: a line, or several."""


@dataclass(frozen=True)
class Room:
    """What blocks have to fit: so many characters a line, whether arrows can be written, whether
    lines wrap. A page is as wide as it has to be.
    """

    width: int = 10_000
    has_arrows: bool = True
    wraps: bool = False


PAGE: Final = Room()


@dataclass(frozen=True)
class Paragraph:
    """A sentence. A `kind` of warning stands before it; on a terminal its further lines are
    indented, and one that is `whole` is not wrapped.
    """

    text: str = ""
    style: str = ""
    kind: str = ""
    indent: int = 2
    whole: bool = False

    @property
    def look(self) -> str:
        """What the style says: heading, warning, dim or empty."""
        return look("yellow" if self.kind else self.style)


BLANK: Final = Paragraph()
"""An empty line of a terminal; a page has none."""


@dataclass(frozen=True)
class Facts:
    """Labels and what stands behind them; one without a label goes on with the one before."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Column:
    """A column; `least` is the width it has at any rate, `before` the blanks left of it. A `head`
    of several lines has `\\n` between them, or is a tuple where somebody else chose one. `cell` is
    what a row has in it.
    """

    head: Cell = ""
    right: bool = False
    least: int = 0
    before: int = 1
    cell: Callable[[Any], Cell] = str

    @property
    def heads(self) -> list[str]:
        """The lines of the head, as they are seen."""
        return seen(tuple(self.head.split("\n")) if isinstance(self.head, str) else self.head)


@dataclass(frozen=True)
class Line:
    """A row of a table. Without texts an empty row. One that goes `across` is a heading: no
    column is widened for it.
    """

    texts: tuple[Cell, ...] = ()
    style: str = ""
    across: bool = False

    @property
    def cells(self) -> list[list[str]]:
        """The lines of each cell, as they are seen."""
        return list(map(seen, self.texts))

    @property
    def look(self) -> str:
        """As that of a paragraph."""
        return look(self.style)


@dataclass(frozen=True)
class Grid:
    """A table."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]


Block = Paragraph | Facts | Grid


def table(
    rows: Iterable[Row],
    *columns: Column | tuple[Cell, Callable[[Row], Cell]],
    style: Callable[[Row], str] = lambda _: "",
) -> Grid:
    """A line a row. A column that is a head and what rows have below it is one of numbers."""
    every = tuple(
        one if isinstance(one, Column) else Column(one[0], right=True, before=2, cell=one[1])
        for one in columns
    )
    return Grid(
        every, tuple(Line(tuple(one.cell(row) for one in every), style(row)) for row in rows)
    )


def heading(text: str) -> Paragraph:
    """What stands above other blocks."""
    return Paragraph(text, "bold")


def note(text: str) -> Paragraph:
    """What a reader may pass over."""
    return Paragraph(text, "dim")


def warning(text: str) -> Paragraph:
    """What to know before the rest is trusted."""
    return Paragraph(text, kind="warning: ")


def look(style: str) -> str:
    """What a style of the terminal says."""
    words = style.split()
    if "yellow" in words or "red" in words:
        return "warning"
    if "bold" in words:
        return "heading"
    return "dim" if "dim" in words else ""


def seen(cell: Cell) -> list[str]:
    """The lines of a cell. What is hidden in a name is `shown`, and no name begins a line."""
    return list(map(shown, [cell] if isinstance(cell, str) else cell))
