"""Follows each packet from the host that sent it to the one it was sent to, by its bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rexmit_validate.truth.packets import PointPacket


@dataclass(slots=True)
class SentPacket:
    """A packet as its sender's capture has it, and when it passed the other points; None: never."""

    packet: PointPacket
    switch_ns: int | None = None
    arrived_ns: int | None = None


def follow(
    sender: Sequence[PointPacket], switch: Sequence[PointPacket], far: Sequence[PointPacket]
) -> list[SentPacket]:
    """The packets that one host sent, in order, with their times at the switch and at the far end.

    All three hold that host's packets only.
    """
    at_switch = _match(sender, switch)
    sent = [SentPacket(packet, at_switch.get(index)) for index, packet in enumerate(sender)]
    for index, time_ns in _match(sender, far).items():
        sent[index].arrived_ns = time_ns
    return sent


def _match(entries: Sequence[PointPacket], exits: Sequence[PointPacket]) -> dict[int, int]:
    """The first time at which each entry came out, by its place.

    Packets alike to the bit (a SYN-ACK sent again without time stamps) are sent a second apart:
    what comes out is the latest of them that had gone in, unless that is out already; more of the
    same are copies that the network made.
    """
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for place, packet in enumerate(entries):
        places[packet.name].append(place)
    by_packet: dict[int, int] = {}
    for packet in exits:
        alike = places.get(packet.name)
        if not alike:
            continue
        before = bisect_right([entries[place].time_ns for place in alike], packet.time_ns)
        for place in reversed(alike[:before]):
            if place not in by_packet:
                by_packet[place] = packet.time_ns
                break
    return by_packet
