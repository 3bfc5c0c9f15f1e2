"""What each packet of a transfer is: numbers relative to the initial sequence numbers, and its
fate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rexmit.ladder.match import Passage
from rexmit.ladder.packets import in_order

_SPACE = 1 << 32


@dataclass(frozen=True)
class Step:
    """One line of the ladder. Times in ns since the first packet; None where it was not seen.

    Sequence and acknowledgement numbers count from the initial sequence numbers, as Wireshark
    counts: SYN is 0, the first byte 1.
    """

    from_server: bool
    sent_ns: int | None
    arrived_ns: int | None
    flags: str
    payload_bytes: int
    seq: int
    ack: int | None
    sack: tuple[tuple[int, int], ...]
    window: int  #: as in the header, not scaled
    dropped: bool  #: by the loss rule
    lost: bool  #: sent, not dropped by the rule, and yet never arrived
    mechanism: str | None
    need: str | None
    duplicate_sack: bool  #: its first block reports data that came twice (RFC 2883)
    duplicate_ack: bool  #: acknowledges no more than the one before, and carries nothing

    @property
    def is_event(self) -> bool:
        """Worth a line whatever stands around it."""
        return bool(
            self.dropped
            or self.lost
            or self.mechanism
            or self.sack
            or self.duplicate_ack
            or {"SYN", "FIN", "RST"} & set(self.flags.split(", "))
            or self.window == 0
        )


def steps(
    passages: Iterable[Passage], isn_server: int | None, isn_client: int | None
) -> list[Step]:
    """Lines in order of being sent. The initial numbers told are for captures without a SYN."""
    ordered = list(passages)
    if not ordered:
        return []
    start = min(passage.order_ns for passage in ordered)
    isn = {
        True: _initial(ordered, from_server=True, told=isn_server),
        False: _initial(ordered, from_server=False, told=isn_client),
    }
    highest_ack: dict[bool, int | None] = {True: None, False: None}
    made = []
    for passage in ordered:
        step = _step(passage, start, isn, highest_ack)
        made.append(step)
        if step.ack is not None:
            highest_ack[step.from_server] = max(step.ack, highest_ack[step.from_server] or 0)
    return made


def _initial(passages: list[Passage], *, from_server: bool, told: int | None) -> int:
    """The SYN's number; without a SYN what was told, else the first number there is."""
    mine = [p.packet for p in passages if p.packet.from_server == from_server]
    syn = next((packet.seq for packet in mine if "SYN" in packet.flags), told)
    return syn if syn is not None else mine[0].seq if mine else 0


def _step(
    passage: Passage,
    start: int,
    isn: dict[bool, int],
    highest_ack: dict[bool, int | None],
) -> Step:
    packet = passage.packet
    mine, other = isn[packet.from_server], isn[not packet.from_server]
    ack = (packet.ack - other) % _SPACE if "ACK" in packet.flags else None
    sack = tuple(((left - other) % _SPACE, (right - other) % _SPACE) for left, right in packet.sack)
    bare = packet.payload_bytes == 0 and packet.flags == frozenset({"ACK"})
    return Step(
        from_server=packet.from_server,
        sent_ns=passage.sent.time_ns - start if passage.sent else None,
        arrived_ns=passage.arrived.time_ns - start if passage.arrived else None,
        flags=in_order(packet.flags) or "none",
        payload_bytes=packet.payload_bytes,
        seq=(packet.seq - mine) % _SPACE,
        ack=ack,
        sack=sack,
        window=packet.window,
        dropped=packet.dropped,
        lost=passage.arrived is None and not packet.dropped,
        mechanism=packet.mechanism,
        need=packet.need,
        duplicate_sack=bool(sack) and ack is not None and _reports_duplicate(sack, ack),
        duplicate_ack=bare and ack is not None and ack == highest_ack[packet.from_server],
    )


def _reports_duplicate(sack: tuple[tuple[int, int], ...], ack: int) -> bool:
    """RFC 2883 section 4: the first block is below the acknowledgement or inside the second."""
    left, right = sack[0]
    if (ack - right) % _SPACE < _SPACE // 2:
        return True
    return len(sack) > 1 and sack[1][0] <= left and right <= sack[1][1]
