"""The systems of UNC 2007 behind the names of stacks and of SYN signatures."""

from __future__ import annotations

from typing import Final

SYSTEMS: Final = ("Windows", "Linux", "Solaris", "FreeBSD", "RFC")
"""In the paper's order; its FreeBSD has Mac OS X in it (the same TCP), RFC is ours."""

RULES: Final = "RFC"
"""The system of a stack that does what RFCs say, and nothing of its own."""

_BEGINS: Final = (
    ("windows", "Windows"),
    ("linux", "Linux"),
    ("android", "Linux"),
    ("solaris", "Solaris"),
    ("freebsd", "FreeBSD"),
    ("mac", "FreeBSD"),
    ("bsd", "FreeBSD"),
    ("rfc", "RFC"),
)


def system(word: str) -> str:
    """The system of a stack, or of what a SYN names; the word itself for any other."""
    low = word.strip().lower()
    return next((name for begins, name in _BEGINS if low.startswith(begins)), word.strip())


def system_of(stack: str | None, stacks: str | None) -> str | None:
    """The one system that explains a sender; None for none and for several. Several stacks of one
    system (Linux 3 and 6) are that system. The RFCs are no system: they count where nothing else
    explains the sender.
    """
    words = [stack] if stack not in (None, "several", "none") else (stacks or "").split(",")
    systems = {system(word) for word in words if word and word.strip()}
    real = systems - {RULES} or systems
    return real.pop() if len(real) == 1 else None
