"""What a store says of an object."""

from __future__ import annotations

from typing import Final, NamedTuple

CHANGED: Final = "it has changed since it was found"


class Found(NamedTuple):
    """What a store says of an object: its size in bytes, its own name of these very bytes (ETag),
    and when they were written, in seconds since 1970; None where it does not say.
    """

    size: int
    tag: str | None
    changed_s: int | None

    def is_same(self, other: Found) -> bool:
        """Whether that is said of the same bytes."""
        if self.size != other.size:
            return False
        if self.tag is not None and other.tag is not None:
            return self.tag == other.tag
        return None in (self.changed_s, other.changed_s) or self.changed_s == other.changed_s
