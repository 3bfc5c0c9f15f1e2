"""Captures of a web server, taken beside it: connections of a client that ask for a page, again and
again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.trace.scripted import ACK, FIN, LINUX_SYN, PSH, SERVER, SYN, Packet, write

MSS = 1000
_HEAD = "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n"


@dataclass(frozen=True)
class Site:
    """How a site answers: a round trip of `rtt_s`, `think_s` until an answer begins, answers of
    so many segments, of which in every `lost_every`th one is lost (0: in none). Times vary by a
    twentieth, by `seed`. `start_s` is when the capture begins, `port` the client's first one.
    """

    connections: int = 8
    requests: int = 3
    rtt_s: float = 0.02
    think_s: float = 0.05
    segments: int = 10
    lost_every: int = 0
    path: str = "/report"
    server: str = SERVER
    port: int = 40_000
    seed: int = 1
    start_s: float = 0.0

    def write(self, path: Path) -> Path:
        """The capture."""
        return write(path, sorted(self._packets(), key=lambda packet: packet.at))

    def _packets(self) -> Iterator[Packet]:
        chance = random.Random(self.seed)  # noqa: S311 - a script's times
        for number in range(self.connections):
            ended = self.start_s + number * 0.3
            for packet in self._connection(number, chance):
                here = replace(packet, at=ended + packet.at, port=self.port + number)
                yield replace(here, server=self.server)

    def _connection(self, number: int, chance: random.Random) -> Iterator[Packet]:
        def about(time_s: float) -> float:
            return time_s * chance.uniform(0.95, 1.05)

        at, ids = 0.0, iter(range(1, 60_000))
        yield Packet(at, True, SYN, 0, options=LINUX_SYN, id=next(ids))
        yield Packet(at + 1e-5, False, SYN | ACK, 0, 1, options=LINUX_SYN, id=0)
        at += about(self.rtt_s)
        yield Packet(at, True, ACK, 1, 1, id=next(ids))
        mine, its, own = 1, 1, iter(range(1, 60_000))
        for request in range(self.requests):
            asked = f"GET {self.path} HTTP/1.1\r\nHost: a.org\r\n\r\n".encode()
            yield Packet(at, True, ACK | PSH, mine, its, len(asked), next(ids), data=asked)
            mine += len(asked)
            yield Packet(at + 1e-5, False, ACK, its, mine, id=next(own))
            at += about(self.think_s)
            nth = number * self.requests + request + 1
            lost = self.lost_every > 0 and nth % self.lost_every == 0
            head = _HEAD.format(self.segments * MSS - len(_HEAD.format(10**4)) + 1)
            for segment in range(self.segments):
                data = head.encode() if segment == 0 else b""
                sent = at + segment * 1e-4
                yield Packet(sent, False, ACK, its + segment * MSS, mine, MSS, next(own), data=data)
            heard, trip = its, about(self.rtt_s)
            for segment in range(self.segments):
                arrived = at + segment * 1e-4 + trip
                if not (lost and segment >= _LOST):
                    heard = its + (segment + 1) * MSS
                    yield Packet(arrived, True, ACK, mine, heard, id=next(ids))
                elif segment > _LOST:
                    block = (its + (_LOST + 1) * MSS, its + (segment + 1) * MSS)
                    yield Packet(arrived, True, ACK, mine, heard, id=next(ids), sack=block)
            at += (self.segments - 1) * 1e-4 + trip
            if lost:
                again = at - (self.segments - 1) * 1e-4 + (_LOST + 3) * 1e-4 + 1e-5
                yield Packet(again, False, ACK, heard, mine, MSS, next(own))
                at = again + trip
                yield Packet(at, True, ACK, mine, its + self.segments * MSS, id=next(ids))
            its += self.segments * MSS
            at += 0.002
        yield Packet(at, True, ACK | FIN, mine, its, id=next(ids))
        yield Packet(at + 1e-5, False, ACK | FIN, its, mine + 1, id=next(own))
        yield Packet(at + about(self.rtt_s), True, ACK, mine + 1, its + 1, id=next(ids))


_LOST = 2
"""Which segment of an answer is lost."""
