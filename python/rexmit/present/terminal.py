"""Sentences on a terminal of any width and encoding, and in a pipe."""

from __future__ import annotations

import sys

import rich.text
from rich.console import Console
from rich.padding import Padding
from rich.style import StyleType

from rexmit import outputs
from rexmit.present.text import Text


def console() -> Console:
    """A console on stdout that writes `?` for what the terminal's encoding lacks, never fails."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return outputs.console()


def is_unicode(encoding: str | None) -> bool:
    """Whether arrows and the like can be written."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def say(
    console: Console, text: str | rich.text.Text, style: StyleType = "", indent: int = 2
) -> None:
    """A sentence: on a terminal wrapped between words, what follows the first line indented; in a
    pipe or file one line, so that `grep` finds it whole.
    """
    whole = Text(text, style) if isinstance(text, str) else text
    if not console.is_terminal or whole.cell_len <= console.width:
        console.print(whole, soft_wrap=True)
        return
    for number, line in enumerate(whole.wrap(console, console.width - indent)):
        line.rstrip()
        left = indent if number else 0
        console.print(Padding(line, (0, 0, 0, left), expand=False))
