"""Packets written by hand, as `packets.read` gives them: one connection, times in milliseconds.

The server, 10.0.0.1:80, sends; the monitor stands beside it, or `near` milliseconds away.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.real import oracle
from tests.real.evidence import Case
from tests.real.history import View, histories
from tests.real.oracle import Seen
from tests.real.packets import ACK, FIN, RST, SYN, Packet

SERVER, CLIENT = ("10.0.0.1", 80), ("10.0.0.2", 4000)
MSS = 1000
NS = 1_000_000


@dataclass
class Script:
    """A connection. Sequence numbers count from 0 for the SYN, as Wireshark shows them."""

    sack: bool = True
    trip: float = 40.0
    """From the monitor to the client and back."""
    near: float = 0.01
    """From the monitor to the server and back."""
    isn: int = 1000
    other: int = 5000
    packets: list[Packet] = field(default_factory=list)

    def handshake(self) -> Script:
        """Three packets, the first at 0."""
        options = f"0204{MSS:04x}" + ("0402" if self.sack else "")
        self._client(0.0, 0, 0, SYN, options)
        self._server(self.near, 0, SYN | ACK, 0, options)
        return self.ack(self.near + self.trip, 1)

    def data(
        self, at: float, seq: int, length: int = MSS, *, fin: bool = False, stamp: str = ""
    ) -> Script:
        """The server's. `stamp` is an option from `stamps`."""
        return self._server(at, seq, ACK | (FIN if fin else 0), length, stamp)

    def ack(
        self, at: float, number: int, *blocks: tuple[int, int], window: int = 8192, stamp: str = ""
    ) -> Script:
        """The client's, with SACK blocks."""
        options = stamp
        if blocks:
            numbers = "".join(f"{self.isn + n:08x}" for block in blocks for n in block)
            options += f"05{2 + 8 * len(blocks):02x}{numbers}"
        return self._client(at, 1, number, ACK, options, window)

    def reset(self, at: float) -> Script:
        """The client's."""
        return self._client(at, 1, 0, RST, "", 0)

    def _server(self, at: float, seq: int, flags: int, length: int, options: str) -> Script:
        flow = (*SERVER, *CLIENT)
        return self._add(at, flow, self.isn + seq, self.other + 1, length, flags, 8192, options)

    def _client(
        self, at: float, seq: int, number: int, flags: int, options: str, window: int = 8192
    ) -> Script:
        flow = (*CLIENT, *SERVER)
        return self._add(at, flow, self.other + seq, self.isn + number, 0, flags, window, options)

    def _add(
        self,
        at: float,
        flow: tuple[str, int, str, int],
        seq: int,
        ack: int,
        length: int,
        flags: int,
        window: int,
        options: str,
    ) -> Script:
        number = len(self.packets) + 1
        time = round(at * NS)
        self.packets.append(
            Packet(time, flow, seq, ack, length, flags, window, number, options, number)
        )
        return self

    def account(self) -> list[Seen]:
        """The oracle's."""
        return oracle.account(self.packets)

    def case(self, *, tick: int | None = None, probes: frozenset[int] = frozenset()) -> Case:
        """The last packet, as one of a row."""
        view, sent = histories(self.account())[len(self.packets) - 1]
        return Case(view, sent, tick, probes)

    def view(self) -> View:
        """The server's direction."""
        return self.case().view


def stamps(value: int, echo: int) -> str:
    """The option of RFC 7323 §3."""
    return f"080a{value:08x}{echo:08x}"
