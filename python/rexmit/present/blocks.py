"""What is printed on a console, kept as blocks: comparisons print on one."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

import rich.text
from rich.console import Console

from rexmit.present.text import Text
from rexmit.result.blocks import PAGE, Block, Column, Facts, Grid, Line, Paragraph, look


class Recorder(Console):
    """A console that keeps what is printed on it, for a page."""

    def __init__(self) -> None:
        # No terminal, whatever the environment says: who shows a paragraph wraps it.
        super().__init__(
            file=io.StringIO(),
            width=PAGE.width,
            force_terminal=False,
            highlight=False,
            emoji=False,
            markup=False,
        )
        self.blocks: list[Block] = []

    def print(self, *objects: Any, style: Any = None, **_options: Any) -> None:  # noqa: ANN401 - as Rich's
        """Keep a paragraph; an empty line where there is nothing."""
        for one in objects or ("",):
            text = one if isinstance(one, rich.text.Text) else Text(str(one), str(style or ""))
            warns = any(look(str(span.style)) == "warning" for span in text.spans)
            self.blocks.append(Paragraph(text.plain, str(text.style) or "yellow" * warns))

    def facts(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Keep labelled facts."""
        self.blocks.append(Facts(tuple(pairs)))

    def grid(self, columns: Sequence[Column], lines: Sequence[Line]) -> None:
        """Keep a table."""
        self.blocks.append(Grid(tuple(columns), tuple(lines)))
