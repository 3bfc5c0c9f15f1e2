"""How many times its own size a packed capture may unpack to: for the whole process, as captures
are read in many places.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rexmit import _core

_said: int | None = None
"""What the caller said, if anything."""


def allow(times: int | None) -> None:
    """From here on so many times; None: as before."""
    global _said
    if times is not None:
        _core.set_unpack_limit(times)
        _said = times


@contextmanager
def allowed(times: int | None) -> Iterator[None]:
    """Inside, so many times; None: as outside."""
    global _said
    before = _core.unpack_limit(), _said
    allow(times)
    try:
        yield
    finally:
        _core.set_unpack_limit(before[0])
        _said = before[1]


def words() -> list[str]:
    """The option of a command line that says it, if anything was said."""
    return [] if _said is None else ["--unpack-limit", str(_said)]
