"""Reading an object from its begin to its end: by ranges, some ahead, each retried."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from rexmit.errors import UserError
from rexmit.sources import stores
from rexmit.sources.found import CHANGED, Found
from rexmit.sources.stores import READING

FIRST_BYTES: Final = 1 << 18
"""The first range: of a capture among many only the first packet's time is wanted at first."""

MOST_BYTES: Final = 8 << 20
"""The largest range; each is twice as long as the one before, up to this."""

AHEAD: Final = 3
"""Ranges that are asked for while one is read: what a reader holds is bounded by this."""


class Reader:
    """Reads an object: the store's address, the path there, and what was found, of which more is
    not taken. `read` gives the next bytes, none at the end.
    """

    def __init__(self, store: str, path: str, listed: Found) -> None:
        self._name, self._path, self._found = f"{store}/{path}", path, listed
        self._store = stores.opened(store, READING)
        self._asked = 0
        self._next_bytes = FIRST_BYTES
        self._pool = ThreadPoolExecutor(AHEAD, thread_name_prefix="rexmit-read")
        self._coming: deque[Future[memoryview]] = deque()
        self._piece = memoryview(b"")
        self._ask()

    def read(self, size: int) -> bytes:
        """At most so many bytes, fewer at the end of a range. Raises OSError where the store gives
        no more, or other bytes than those that were found.
        """
        if not self._piece:
            self._ask()
            if not self._coming:
                self.close()
                return b""
            self._piece = self._coming.popleft().result()
            # The first is waited for alone: there may be no second.
            self._ask()
        given = bytes(self._piece[:size])
        self._piece = self._piece[size:]
        return given

    def close(self) -> None:
        """Asks for nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._coming.clear()
        self._store.close()

    def __del__(self) -> None:
        self.close()

    def _ask(self) -> None:
        most = AHEAD if self._asked > FIRST_BYTES else 1
        while len(self._coming) < most and self._asked < self._found.size:
            end = min(self._asked + self._next_bytes, self._found.size)
            self._coming.append(self._pool.submit(self._range, self._asked, end))
            self._asked = end
            self._next_bytes = min(2 * self._next_bytes, MOST_BYTES)

    def _range(self, start: int, end: int) -> memoryview:
        try:
            with stores.told(self._name):
                now, piece = self._store.read(self._path, start, end)
        except UserError as error:
            # Whoever reads it names it.
            raise OSError(error.what.removeprefix(f"{self._name}: ")) from error
        if not self._found.is_same(now):
            raise OSError(CHANGED)
        if len(piece) != end - start:
            raise OSError(f"the store gave {len(piece)} bytes of {end - start}")
        return memoryview(piece)
