"""A host's counters, as the kernel prints them, held against the labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rexmit_validate.truth.causes import NEW_DATA, Cause

DROPS: Final = (
    "TCPRcvQDrop",
    "TCPBacklogDrop",
    "TCPZeroWindowDrop",
    "TCPOFODrop",
    "OfoPruned",
    "RcvPruned",
    "PAWSEstab",
    "ListenDrops",
    "PruneCalled",
)
"""Packets that reached a host and that its TCP did not take: it may need what did arrive."""


MOST_SYN_ACK_TIMEOUTS: Final = 5
"""`tcp_synack_retries`, which parts leave as it is."""


def difference(texts: Sequence[str]) -> dict[str, int]:
    """What was counted between two looks at a host's counters."""
    before, after = (_read(text) for text in texts)
    return {name: value - before.get(name, 0) for name, value in after.items()}


def _read(text: str) -> dict[str, int]:
    counters: dict[str, int] = {}
    lines = iter(text.splitlines())
    for names, values in zip(lines, lines, strict=False):
        pairs = zip(names.split()[1:], values.split()[1:], strict=True)
        counters |= {name: int(value) for name, value in pairs}
    return counters


def expected(records: Sequence[Cause]) -> dict[str, int]:
    """What the kernel must have counted if the records are all that it sent again."""
    counts: Counter[str] = Counter()
    for record in records:
        segments = record.segments
        match record.cause:
            case "probe" | "probe-new":
                counts["TCPLossProbes"] += 1
            case "timer" | "synack-timer":
                counts["TCPTimeouts"] += 1
            case "queue" | "queue-timer":
                loss = record.state == "loss"
                counts["TCPSlowStartRetrans" if loss else "TCPFastRetrans"] += segments
        if record.cause != NEW_DATA:
            counts["RetransSegs"] += segments
    return dict(counts)


COMPARED: Final = (
    "RetransSegs",
    "TCPFastRetrans",
    "TCPSlowStartRetrans",
    "TCPLossProbes",
    "TCPTimeouts",
)


def disagreements(counted: Mapping[str, int], records: Sequence[Cause]) -> list[str]:
    """Counters that are not what the records make them, in words.

    A timer may fire and send nothing, where the kernel takes the segment for still queued in the
    host or gives the connection up: then timeouts are more than records, by no more than that. So
    does the timer of a SYN-ACK that was answered while its listener defers accepting: for each
    answer that was dropped, at most the timeouts of the longest handshake.
    """
    wanted = expected(records)
    differing = []
    for name in COMPARED:
        there, should = counted.get(name, 0), wanted.get(name, 0)
        spare = 0
        if name == "TCPTimeouts":
            spare = counted.get("TCPSpuriousRtxHostQueues", 0) + counted.get("TCPAbortOnTimeout", 0)
            spare += MOST_SYN_ACK_TIMEOUTS * counted.get("TCPDeferAcceptDrop", 0)
        if not should <= there <= should + spare:
            differing.append(f"{name} is {there}, the records make {should}")
    return differing
