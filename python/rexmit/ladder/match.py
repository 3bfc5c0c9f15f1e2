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
    early enough: by at least the shortest passage seen of a packet without a copy. Where that
    leaves an arrival without a sending (a line with jitter was faster once), the latest copy sent
    before it will do.
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
    # Both hosts share a clock and no line takes no time: 1 ns is the least there can be.
    matched = _latest(open_sends, arrived, max(shortest_ns, 1))
    if shortest_ns > 1 and any(passage.sent is None for passage in matched):
        matched = _latest(open_sends, arrived, 1)
    return passages + matched


def _latest(sent: list[Packet], arrived: list[Packet], least_ns: int) -> list[Passage]:
    """Each arrival, from the last on, with the latest sending left that is `least_ns` before it."""
    left = list(sent)
    passages: list[Passage] = []
    for arrival in reversed(arrived):
        while left and left[-1].time_ns + least_ns > arrival.time_ns:
            passages.append(Passage(left.pop(), None))
        passages.append(Passage(left.pop() if left else None, arrival))
    return passages + [Passage(packet, None) for packet in left]
