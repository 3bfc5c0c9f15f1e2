"""Connections that were reset: by whom, in which state, after which packet."""

from __future__ import annotations

from typing import Final

import polars as pl

from rexmit.tracing import sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.value import Sentence, connections
from rexmit.values import dataclass

_STATES: Final = {
    "syn-sent": "before the SYN was answered",
    "syn-received": "before the handshake was complete",
    "established": "while both ends could send",
    "half-closed": "after one FIN",
    "closed": "after both FINs",
}
"""The states in which a reset comes, in words."""

_RESET: Final = pl.col("reset_by").is_not_null() & (pl.col("handshake") != "refused")
"""A reset of a SYN is told by the handshake."""


@dataclass(frozen=True)
class Resets:
    """Connections that were reset in one way: `by` client or server, in a `state`, after a packet
    (`after`). `services` says to how many addresses and ports, `service` which one most of them
    were to. `silence_median_s` is the time from that packet to the reset; long ones are of
    something that forgot the connection, or of a program that gave up.
    """

    by: str
    state: str
    after: str
    connections: int
    service: str
    for_service: int
    services: int
    silence_median_s: float


def resets(trace: Trace) -> pl.LazyFrame:
    """`Resets` for each way, those of most connections first."""
    service = pl.col("service")
    ways = ["reset_by", "reset_state", "reset_after"]
    return (
        trace.scan("connections")
        .filter(_RESET)
        .select(*ways, sides.SERVER.alias("service"), "reset_silence_s")
        .group_by(*ways)
        .agg(
            pl.len().alias("connections"),
            service.mode().sort().first(),
            (service == service.mode().sort().first()).sum().alias("for_service"),
            service.n_unique().alias("services"),
            pl.col("reset_silence_s").median().alias("silence_median_s"),
        )
        .rename({"reset_by": "by", "reset_state": "state", "reset_after": "after"})
        .sort("connections", "by", "state", "after", descending=[True, False, False, False])
    )


def said(ways: tuple[Resets, ...], number: int, every: int) -> list[Sentence]:
    """Of `number` connections that were reset, in these ways."""
    if not number:
        return []
    text = f"{connections(number, every)}: ended by a RST{_how(ways, number)}"
    return [Sentence(text, "connections", lambda rows: rows.height == number, _RESET, "reset")]


def _how(ways: tuple[Resets, ...], number: int) -> str:
    if not ways:
        return ""
    most = ways[0]
    who, _, what = most.after.partition(" ")
    how = (
        f"of the {most.by} {_STATES.get(most.state, most.state)}; the packet before was the "
        f"{who}'s {what}"
    )
    if most.connections == number:
        return f" {how}"
    if most.connections == 1:
        return f", each in another way; one {how}"
    return f"; most often ({most.connections:,}) {how}"
