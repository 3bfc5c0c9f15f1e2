"""Connections that never came to be, and those that a reset ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.trace import terms
from rexmit.trace.folder import Trace

_OPENED: Final = ~pl.col("mid_stream") & (pl.col("forward_packets") > 0)
"""The client's SYN was seen."""


def unanswered() -> pl.Expr:
    """Nothing but SYNs went one way, and nothing came back."""
    doubles = pl.col("forward_capture_duplicates") + pl.col("forward_network_duplicates")
    syns = 1 + terms.resends(["forward"]) + doubles
    alone = (pl.col("forward_segments") == 0) & (pl.col("forward_packets") <= syns)
    return _OPENED & alone & (pl.col("backward_packets") == 0)


def refused() -> pl.Expr:
    """A RST answered the SYN, and no SYN-ACK did (RFC 9293 section 3.5.2)."""
    nothing = (pl.col("forward_segments") == 0) & (pl.col("backward_segments") == 0)
    answered = (pl.col("backward_packets") > 0) & pl.col("backward_syn_signature").is_null()
    return _OPENED & nothing & answered & (pl.col("closed") == "rst")


def incomplete() -> pl.Expr:
    """The handshake was answered, but not completed."""
    nothing = (pl.col("forward_segments") == 0) & (pl.col("backward_segments") == 0)
    unseen = pl.col("handshake_rtt_s").is_null() & (pl.col("closed") != "fin")
    return _OPENED & nothing & unseen & (pl.col("backward_packets") > 0)


@dataclass(frozen=True)
class Attempts:
    """Connections by how they failed: `unanswered` and `refused` never came to be, `reset` ended by
    a RST later. `one_sided` counts those of which one direction was seen although there were two.
    """

    unanswered: int
    refused: int
    reset: int
    one_sided: int


def attempts(trace: Trace) -> Attempts:
    """Over all connections."""
    never = unanswered() | refused()
    row = (
        trace.scan("connections")
        .select(
            unanswered().sum().alias("unanswered"),
            refused().sum().alias("refused"),
            ((pl.col("closed") == "rst") & ~never).sum().alias("reset"),
            (pl.col("one_sided") & ~never).sum().alias("one_sided"),
        )
        .collect()
        .row(0, named=True)
    )
    return Attempts(**row)
