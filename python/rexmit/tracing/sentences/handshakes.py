"""Handshakes that failed: SYNs without an answer, refused ones, and SYN-ACKs without an ACK."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.tracing import sides
from rexmit.tracing.files import captured
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.value import Sentence, connections
from rexmit.values import dataclass

ANSWER_S: Final = 1.0
"""An answer may take so long: the first retransmission timeout of a host that knows no round trip
(RFC 6298 §2.1)."""

NOT_OPENED: Final = {
    "unanswered": "the SYN was never answered",
    "refused": "the SYN was refused by a RST",
    "unreachable": "ICMP said that the server cannot be reached",
    "half-open": "the handshake was never completed",
}
"""What became of a handshake that failed."""


@dataclass(frozen=True)
class Failed:
    """Connections to one service that never came to be. `handshake` is `unanswered`, `refused`,
    `unreachable` (ICMP said so) or `half-open` (no ACK followed the service's SYN-ACK), `clients`
    from how many addresses they came, `syns` how many SYNs they sent.
    """

    service: str
    handshake: str
    connections: int
    clients: int
    syns: int


def settled(trace: Trace) -> pl.LazyFrame:
    """The trace's connections, `handshake` being `unseen` where it has no answer and the capture
    ends before one could have come: the last packet is less than `ANSWER_S` old then, and its
    sender had not waited long enough to repeat it.
    """
    end_s = captured(trace).end_s
    asked = pl.when(pl.col("handshake") == "unanswered").then("forward_syns")
    repeated = asked.when(pl.col("handshake") == "half-open").then("backward_syns") > 1
    late = pl.lit(end_s, pl.Float64) - pl.col("end_s") < ANSWER_S
    open_ = pl.col("handshake").is_in(["unanswered", "half-open"]) & late & ~repeated
    both = sides.beside(trace.numbered(), trace, "syns")
    return both.with_columns(
        pl.when(open_).then(pl.lit("unseen")).otherwise("handshake").alias("handshake")
    )


def failed(trace: Trace) -> pl.LazyFrame:
    """`Failed` for each service, those of most connections first."""
    return (
        settled(trace)
        .filter(pl.col("handshake").is_in(list(NOT_OPENED)))
        .group_by(sides.SERVER.alias("service"), "handshake")
        .agg(
            pl.len().alias("connections"),
            sides.CLIENT.str.extract(r"^(.*):\d+$").n_unique().alias("clients"),
            pl.col("forward_syns").sum().alias("syns"),
        )
        .sort("connections", "service", "handshake", descending=[True, False, False])
    )


def said(counted: dict[str, int], services: tuple[Failed, ...], every: int) -> list[Sentence]:
    """A sentence for each way in which handshakes failed: `counted` says how many did."""
    kinds = (
        ("no answer", "unanswered", "nothing came back for the SYN", "to"),
        ("refused", "refused", "a RST came back for the SYN", "to"),
        ("unreachable", "unreachable", "ICMP came back for the SYN: it cannot be reached", "to"),
        ("half-open", "half-open", "no ACK followed the SYN-ACK", "of"),
    )
    return [
        Sentence(
            f"{connections(number, every)}: {what}{_service(kind, number, services, whose)}",
            "connections",
            lambda rows, number=number: rows.height >= number,  # type: ignore[misc]
            pl.col("handshake") == kind,
            label,
        )
        for label, kind, what, whose in kinds
        if (number := counted[kind])
    ]


def _service(handshake: str, number: int, services: tuple[Failed, ...], whose: str) -> str:
    """Which service they were for, or most of them; `whose` is the word before it."""
    first = next((one for one in services if one.handshake == handshake), None)
    if first is None:
        return ""
    if first.connections == number:
        return f" {whose} {first.service}"
    if first.connections * 2 > number:
        return f", most often {whose} {first.service} ({first.connections:,})"
    return ""
