"""The systems behind the names of stacks and of SYN signatures."""

from __future__ import annotations

from typing import Final

_BEGINS: Final = (
    ("windows", "Windows"),
    ("linux", "Linux"),
    ("android", "Linux"),
    ("solaris", "Solaris"),
    ("freebsd", "FreeBSD"),
    ("macos", "macOS"),
    ("mac", "FreeBSD"),
    ("bsd", "FreeBSD"),
    ("rfc", "RFC"),
)
"""Mac OS X had FreeBSD's TCP."""


def system(word: str) -> str:
    """The system of a stack, or of what a SYN names; the word itself for any other."""
    low = word.strip().lower()
    return next((name for begins, name in _BEGINS if low.startswith(begins)), word.strip())
