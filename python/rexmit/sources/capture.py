"""What stands for a capture: the path of a file, or an object of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from rexmit.sources.remote import Remote

Capture = Path | Remote
"""A capture that can be opened."""

STDIN: Final = "-"
"""The name of standard input."""


def is_address(word: str) -> bool:
    """Whether a word names an object of a store or of a web server, and not a file."""
    return "://" in word


def name_of(capture: Capture) -> str:
    """The last part of its name, as a file's."""
    return capture.name


def is_file(capture: Capture) -> bool:
    """Whether it can be opened more than once."""
    return isinstance(capture, Remote) or capture.is_file()


def whole_name(capture: Capture) -> str:
    """The name by which it is found from any folder."""
    return str(capture) if isinstance(capture, Remote) else str(capture.resolve())
