"""Captures that are not any more what they were when they were analysed."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rexmit.store.plain_json import Check, anything, list_of, shape, text, whole
from rexmit.tracing.words import size
from rexmit.values import dataclass

AS_READ: Final = "as_read"
"""The key in a trace.json: what each capture was known by when its analysis began, as
`sources.capture.identity` has it."""

CHECK: Final[Check] = list_of(
    shape({"name": text, "bytes": whole(), "version": anything}, needed=("name", "bytes"))
)


@dataclass(frozen=True)
class Changed:
    """A capture, and its sizes in bytes when it was analysed and now."""

    capture: str
    bytes_then: int
    bytes_now: int

    def __str__(self) -> str:
        more = self.bytes_now - self.bytes_then
        if not more:
            return f"{self.capture} was written to since it was analysed"
        how = "longer" if more > 0 else "shorter"
        return f"{self.capture} is {size(abs(more))} {how} than when it was analysed"


def changed(meta: Mapping[str, Any]) -> list[Changed]:
    """Those of the captures that are files and still lie where they lay."""
    changes = []
    for one in meta.get(AS_READ, ()):
        try:
            now = Path(one["name"]).stat()
        except (OSError, ValueError):
            continue
        known = (one["bytes"], one.get("version"))
        if stat.S_ISREG(now.st_mode) and (now.st_size, now.st_mtime_ns) != known:
            changes.append(Changed(one["name"], one["bytes"], now.st_size))
    return changes


def line(those: Sequence[Changed]) -> list[str]:
    """One line about them; none where there are none."""
    if not those:
        return []
    more = f", and {len(those) - 1:,} more captures have changed" if len(those) > 1 else ""
    return [f"{those[0]}{more}"]
