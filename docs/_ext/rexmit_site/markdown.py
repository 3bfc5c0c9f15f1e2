"""Markdown of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\*_<>\[\]|#~])")


def plain(text: str) -> str:
    """Text in which nothing but code in backticks means anything."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        part.replace("|", r"\|") if part.startswith("`") else _SPECIAL.sub(r"\\\1", part)
        for part in parts
    )


def code(text: str) -> str:
    """Text as code, in a table too."""
    return f"`{text}`".replace("|", r"\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, of cells that are Markdown. Empty without rows."""
    lines = [" | ".join(row) for row in rows]
    if not lines:
        return ""
    rule = "|".join("---" for _ in head)
    return "\n".join([f"| {' | '.join(head)} |", f"|{rule}|", *(f"| {line} |" for line in lines)])


def fenced(language: str, text: str) -> str:
    """A block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def together(parts: Iterable[str]) -> str:
    """Paragraphs; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
