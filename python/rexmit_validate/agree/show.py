"""Two logs of one case beside each other: the kernel's left, the model's right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rexmit_validate.agree.compare import Difference
from rexmit_validate.agree.packet import SERVER, SYN, LoggedPacket

_WIDTH = 58


def side_by_side(
    kernel: Sequence[LoggedPacket], model: Sequence[LoggedPacket], difference: Difference | None
) -> Iterator[str]:
    """Lines: packets that both sent stand beside each other; `>>` marks where the two part."""
    yield f"{'kernel':<{_WIDTH}} | model"
    mss = max((packet.length for packet in kernel), default=1) or 1
    for one, two in _pairs(kernel, model):
        parts = difference is not None and (
            (one is not None and one is difference.ours)
            or (two is not None and two is difference.theirs)
        )
        left, right = _words(one, mss), _words(two, mss)
        apart = ""
        if one is not None and two is not None:
            late = (two.at_ns - one.at_ns) / 1e6
            apart = f" {late:+.3f}" if abs(late) >= 0.001 else ""
        yield f"{'>>' if parts else '  '}{left:<{_WIDTH - 2}} | {right}{apart}"


def _pairs(
    kernel: Sequence[LoggedPacket], model: Sequence[LoggedPacket]
) -> Iterator[tuple[LoggedPacket | None, LoggedPacket | None]]:
    """Both logs in the order of time; each direction's packets are paired by their place."""
    queues = [
        [[packet for packet in log if packet.direction == way] for way in (0, 1)]
        for log in (kernel, model)
    ]
    rows: list[tuple[int, int, LoggedPacket | None, LoggedPacket | None]] = []
    for way in (0, 1):
        ours, theirs = queues[0][way], queues[1][way]
        for place in range(max(len(ours), len(theirs))):
            one = ours[place] if place < len(ours) else None
            two = theirs[place] if place < len(theirs) else None
            at = min(packet.at_ns for packet in (one, two) if packet is not None)
            rows.append((at, way, one, two))
    rows.sort(key=lambda row: row[0])
    for _, _, one, two in rows:
        yield one, two


def _words(packet: LoggedPacket | None, mss: int) -> str:
    if packet is None:
        return ""
    time = f"{packet.at_ns / 1e6:10.3f}"
    lost = " lost" if packet.dropped else ""
    fin = " fin" if packet.fin else ""
    if packet.flags & SYN:
        return f"{time} {'<-' if packet.direction else '->'} syn win {packet.window}{lost}"
    if packet.direction == SERVER:
        place = f"{(packet.seq - 1) / mss + 1:g}" if packet.length else "-"
        why = f" {packet.mechanism}" if packet.mechanism else ""
        part = f" ({packet.length})" if packet.length not in (0, mss) else ""
        ack = "" if packet.length or packet.fin else " ack"
        return f"{time} -> {place}{part}{fin}{ack}{why}{lost}"
    sack = " ".join(f"{(start - 1) / mss + 1:g}..{(end - 1) / mss:g}" for start, end in packet.sack)
    data = f" {packet.length} bytes" if packet.length else ""
    blocks = f" [{sack}]" if sack else ""
    return (
        f"{time}      <- ack {(packet.ack - 1) / mss:g}{data}{fin}{blocks} "
        f"win {packet.window}{lost}"
    )
