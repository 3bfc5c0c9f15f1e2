"""Packets as the engines log them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

SERVER = 0
FIN, SYN, RST, PSH = 0x01, 0x02, 0x04, 0x08


class Packet(NamedTuple):
    """One packet as its host's TCP sent it, before any loss."""

    at_ns: int
    """After the time at which the transfer was to start."""
    direction: int
    """0 from the server, 1 from the client."""
    seq: int
    length: int
    flags: int
    ack: int
    window: int
    dropped: int
    mechanism: str | None
    sack: Sequence[Sequence[int]]

    @property
    def fin(self) -> bool:
        """It carries the FIN."""
        return bool(self.flags & FIN)

    @property
    def is_data(self) -> bool:
        """The server's, with data or the FIN: what agreement is about."""
        return self.direction == SERVER and (self.length > 0 or self.fin)

    @property
    def what(self) -> tuple[int, int, bool]:
        """Which bytes it carries."""
        return (self.seq, self.length, self.fin)


def read(rows: Iterable[Sequence[Any]]) -> list[Packet]:
    """The packets of a `packets` event."""
    return [Packet(*row) for row in rows]
