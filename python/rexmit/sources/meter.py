"""How much is taken of one answer of a store, and how slowly it may come."""

from __future__ import annotations

import time
from typing import Final

CONNECT_S: Final = 5
"""Seconds in which a connection must stand."""

SILENT_S: Final = 30
"""Seconds without a byte after which a request counts as lost."""

LEAST_BYTES_S: Final = 1000
"""Bytes that a store gives a second at least, over `SILENT_S` seconds; else it is given up."""

REDIRECTS: Final = "REXMIT_FOLLOW_REDIRECTS"
"""The variable that lets a server point to another host."""


class RefusedError(OSError):
    """What a store answers is not taken, and it is not asked again."""


class Meter:
    """Counts what comes of one answer, of which so many bytes are taken at most."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._since_s = 0.0
        self._came = 0

    def took(self, size: int) -> None:
        """So many bytes more have come. Raises RefusedError where that is too much, or slow."""
        self._left -= size
        if self._left < 0:
            raise RefusedError("the store sends more than was asked for")
        now = time.monotonic()
        if not self._came:
            # It may think before it answers. Silence itself is not seen here.
            self._since_s = now
        self._came += size
        took_s = now - self._since_s
        if took_s < SILENT_S:
            return
        if self._came < LEAST_BYTES_S * SILENT_S:
            raise RefusedError(
                f"the store is too slow: {self._came:,} bytes in {took_s:.0f} s, "
                f"where {LEAST_BYTES_S:,} a second are the least"
            )
        self._came = 0
