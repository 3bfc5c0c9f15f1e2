"""Packets as the engines log them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

SERVER = 0
FIN, SYN, RST, PSH = 0x01, 0x02, 0x04, 0x08


class LoggedPacket(NamedTuple):
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
    path: int = 1
    """From 1."""
    data_seq: int | None = None
    """Its first byte in the connection's stream, where the log minds paths."""
    data_ack: int | None = None
    """What it acknowledges of the other side's stream, where the log minds paths."""

    @property
    def fin(self) -> bool:
        """It carries the FIN."""
        return bool(self.flags & FIN)

    @property
    def is_data(self) -> bool:
        """The server's, with data or the FIN: what agreement is about."""
        return self.direction == SERVER and (self.length > 0 or self.fin)

    @property
    def what(self) -> tuple[int, int | None, int, int, bool]:
        """Which bytes it carries, where."""
        return (self.path, self.data_seq, self.seq, self.length, self.fin)

    @property
    def span(self) -> tuple[int, int]:
        """The same in the connection's stream, a FIN as a byte."""
        start = self.seq if self.data_seq is None else self.data_seq
        return start, start + self.length + self.fin

    @property
    def act(self) -> str:
        """What its sender did."""
        return self.mechanism or ("new data" if self.length else "bare fin")


def read(rows: Iterable[Sequence[Any]]) -> list[LoggedPacket]:
    """The packets of a `packets` event."""
    return [LoggedPacket(*row) for row in rows]


def by_path(packets: Iterable[LoggedPacket]) -> dict[int, list[LoggedPacket]]:
    """The packets of each path: two paths have no order between them that means anything."""
    paths: dict[int, list[LoggedPacket]] = {}
    for one in packets:
        paths.setdefault(one.path, []).append(one)
    return paths


Completions = Sequence[int | None]
"""From a burst's first write to its last byte's arrival, by burst; None where it never arrived."""


@dataclass(frozen=True, slots=True)
class Log:
    """What one side logged of a case."""

    rows: Sequence[Sequence[Any]] = ()
    """As its engine wrote them."""
    packets: Sequence[LoggedPacket] = ()
    data: Sequence[LoggedPacket] = ()
    """The server's, with data or the FIN."""
    start_ns: int = 0
    """What the times of `data` are held against."""
    completions: Completions = ()

    @classmethod
    def read(
        cls, rows: Sequence[Sequence[Any]], completions: Completions = (), *, own: bool
    ) -> Self:
        """A log; `own`: times count from its first data, and not from when it was to start, as the
        connection was opened before.
        """
        packets = read(rows)
        data = [packet for packet in packets if packet.is_data]
        return cls(rows, packets, data, data[0].at_ns if own and data else 0, completions)

    def after_ns(self, packet: LoggedPacket) -> int:
        """When the packet was sent, after the log's start."""
        return packet.at_ns - self.start_ns

    @property
    def retransmissions(self) -> list[LoggedPacket]:
        """Of the server's data, re-injections included."""
        return [packet for packet in self.data if packet.mechanism is not None]
