"""What is printed, as blocks: paragraphs, labelled facts and tables, for a page that is not a
terminal.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import rich.text
from rich.console import Console

from rexmit.escaping import shown
from rexmit.present.text import Text

_WIDE: Final = 10_000
"""A page wraps by itself."""


@dataclass(frozen=True)
class Paragraph:
    """A sentence. `look` is heading, warning, dim or empty."""

    text: str
    look: str = ""


@dataclass(frozen=True)
class Facts:
    """Labels and what stands behind them; one without a label goes on with the one before."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Row:
    """A row of a grid; one `across` is a heading."""

    texts: tuple[str, ...]
    look: str = ""
    across: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: heads, which columns are of numbers, rows."""

    heads: tuple[str, ...]
    right: tuple[bool, ...]
    rows: tuple[Row, ...]


Block = Paragraph | Facts | Grid


class Recorder(Console):
    """A console that keeps what is printed on it."""

    def __init__(self) -> None:
        super().__init__(
            file=io.StringIO(), width=_WIDE, highlight=False, emoji=False, markup=False
        )
        self.blocks: list[Block] = []

    def print(self, *objects: Any, style: Any = None, **_options: Any) -> None:  # noqa: ANN401 - as Rich's
        """Keep a paragraph; an empty line says nothing here."""
        for one in objects:
            text = one if isinstance(one, rich.text.Text) else Text(str(one), str(style or ""))
            if text.plain.strip():
                self.blocks.append(Paragraph(text.plain, _look_of(text)))

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Keep labelled facts."""
        if kept := tuple((shown(label), shown(text)) for label, text in pairs):
            self.blocks.append(Facts(kept))

    def grid(self, heads: Sequence[str], right: Sequence[bool], rows: Iterable[Row]) -> None:
        """Keep a table."""
        self.blocks.append(Grid(tuple(heads), tuple(right), tuple(rows)))


def look(style: object) -> str:
    """What a style of the terminal says."""
    words = str(style).split()
    if "yellow" in words or "red" in words:
        return "warning"
    if "bold" in words:
        return "heading"
    return "dim" if "dim" in words else ""


def _look_of(text: rich.text.Text) -> str:
    spans = [look(span.style) for span in text.spans]
    return look(text.style) or ("warning" if "warning" in spans else "")
