"""Finding a packet of one end's capture in the other's: when it left and when it arrived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from rexmit.ladder.packets import Packet


@dataclass(frozen=True)
class Passage:
    """A packet as its sender sent it and as it arrived; one of the two may be None, not both."""

    sent: Packet | None
    arrived: Packet | None

    @property
    def packet(self) -> Packet:
        """The sender's view if there is one (it carries the comments)."""
        packet = self.sent or self.arrived
        if packet is None:
            raise AssertionError("a passage has an end")
        return packet

    @property
    def order_ns(self) -> int:
        """When it was first seen."""
        return self.packet.time_ns


def match(at_server: Iterable[Packet], at_client: Iterable[Packet]) -> list[Passage]:
    """Every packet of either capture once, in order of being sent (seen, where that is unknown).

    Links keep the order of packets. So copies that look alike are matched in order where all of
    them arrived, and where some did not, each arrival belongs to the latest copy that was sent
    early enough: by at least the shortest passage seen of a packet without a copy.
    """
    sent: dict[tuple[object, ...], list[Packet]] = defaultdict(list)
    arrived: dict[tuple[object, ...], list[Packet]] = defaultdict(list)
    for packets, sends_from_server in ((at_server, True), (at_client, False)):
        for packet in packets:
            mine = packet.from_server == sends_from_server
            (sent if mine else arrived)[packet.key].append(packet)
    shortest = _shortest(sent, arrived)
    passages: list[Passage] = []
    for key in {**sent, **arrived}:
        passages += _pair(sent.get(key, []), arrived.get(key, []), shortest[bool(key[0])])
    passages.sort(key=lambda passage: passage.order_ns)
    return passages


def _shortest(
    sent: dict[tuple[object, ...], list[Packet]], arrived: dict[tuple[object, ...], list[Packet]]
) -> dict[bool, int]:
    """The shortest passage, ns, from the server (True) and to it (False)."""
    best: dict[bool, int] = {}
    for key, copies in sent.items():
        there = arrived.get(key, [])
        if len(copies) == len(there) == 1 and not copies[0].dropped:
            took = there[0].time_ns - copies[0].time_ns
            if took >= 0:
                best[bool(key[0])] = min(took, best.get(bool(key[0]), took))
    return {True: best.get(True, 0), False: best.get(False, 0)}


def _pair(sent: list[Packet], arrived: list[Packet], shortest_ns: int) -> list[Passage]:
    passages = [Passage(packet, None) for packet in sent if packet.dropped]
    open_sends = [packet for packet in sent if not packet.dropped]
    if len(open_sends) == len(arrived):
        return passages + [Passage(s, a) for s, a in zip(open_sends, arrived, strict=True)]
    for arrival in reversed(arrived):
        late: list[Packet] = []
        while open_sends and open_sends[-1].time_ns + shortest_ns > arrival.time_ns:
            late.append(open_sends.pop())
        passages += [Passage(packet, None) for packet in late]
        passages.append(Passage(open_sends.pop() if open_sends else None, arrival))
    return passages + [Passage(packet, None) for packet in open_sends]
