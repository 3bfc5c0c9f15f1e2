"""How numbers and text stand in a terminal: the paper's digits and signs, and any encoding."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.padding import Padding
from rich.style import StyleType
from rich.text import Text

NONE = "-"


def console() -> Console:
    """A console on stdout that writes `?` for what the terminal's encoding lacks, never fails."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, emoji=False, markup=False)


def is_unicode(encoding: str | None) -> bool:
    """Whether arrows and the like can be written."""
    return (encoding or "").lower().replace("-", "").startswith("utf")


def say(console: Console, text: str | Text, style: StyleType = "", indent: int = 2) -> None:
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


def seconds(value: float | None) -> str:
    """Four decimals, as Table 4 has them."""
    return NONE if value is None else f"{value:.4f}"


def signed_seconds(value: float | None) -> str:
    """Four decimals with the sign."""
    return NONE if value is None else f"{value + 0.0:+.4f}"


def signed_percent(value: float | None) -> str:
    """As in Table 4: `+0.6%`, `-38%`; one decimal below ten percent."""
    if value is None:
        return ""
    rounded = round(value, 1)
    if rounded == 0:
        return "0.0%"
    return f"{rounded:+.1f}%" if abs(rounded) < 10 else f"{value:+.0f}%"


def duration(value_s: float) -> str:
    """`71 s`, `3 min 20 s`, `5 h 12 min`."""
    whole = round(value_s)
    if whole < 60:
        return f"{value_s:.1f} s" if value_s < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def count(n: int, noun: str) -> str:
    """`1 transfer`, `13,860 transfers`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
