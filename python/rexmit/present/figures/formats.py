"""The formats in which figures are written."""

from __future__ import annotations

from pathlib import Path

FORMATS = ("pdf", "png", "svg")


def ending(path: Path) -> str:
    """What a file's name ends in, as formats are called."""
    return path.suffix.lower().removeprefix(".")


def is_drawable(path: Path) -> bool:
    """Whether the file's ending is a format there is."""
    return ending(path) in FORMATS
