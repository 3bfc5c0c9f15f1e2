"""Floods and scans: connections that came in great number and never got beyond the handshake."""

from __future__ import annotations

from typing import Final, Literal

import polars as pl

from rexmit.tracing import sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.source import Batch
from rexmit.values import dataclass

LEAST: Final = 100
"""Fewer attempts than this are no flood: a program that tries again, a service that is down."""

LEAST_RATE: Final = 1.0
"""Attempts a second, on average from the first to the last: with fewer, the same holds."""

_BEGUN: Final = (
    ~pl.col("mid_stream")
    & ((pl.col("forward_segments") == 0) | (pl.col("forward_packets") == 1))
    & (pl.col("backward_segments") == 0)
    & pl.col("handshake_rtt_s").is_null()
    & (pl.col("closed") != "fin")
)
"""An attempt: its SYN, or the answer to one, was seen, but no whole handshake, and no data but the
SYN's own (RFC 7413)."""

_PORT: Final = "0123456789"
"""What stands at the end of an address and port, behind a colon."""


@dataclass(frozen=True)
class Flood:
    """Attempts that are most of a capture's connections.

    `kind`: `backscatter` when for most of them only the answer came by and no SYN: somebody else's
    flood, under forged addresses; `syn-flood` when more than half are for one address and port, or
    there is an address of its own for more than every other; `scan` when few addresses try many.
    `service` is the address and port most of them were for, `for_service` their number, `services`
    how many different ones there are, on so many `hosts`, `sources` from how many addresses they
    came; `share` is that of all connections. `unanswered` had no answer.
    """

    kind: Literal["syn-flood", "scan", "backscatter"]
    connections: int
    share: float
    unanswered: int
    service: str
    for_service: int
    services: int
    hosts: int
    sources: int
    start_s: float
    duration_s: float


def attempts(batch: Batch) -> pl.Series:
    """The connections among some rows that never got beyond the handshake, by their numbers."""
    connections = batch["connections"].lazy()
    with_sides = sides.joined(connections, batch["sides"].lazy(), "packets", "segments")
    return with_sides.filter(_BEGUN).select("connection").collect().to_series()


def flood(trace: Trace) -> Flood | None:
    """The flood or scan that a capture is, None for any other."""
    connections = sides.beside(trace.scan("connections"), trace, "packets", "segments")
    row = (
        connections.select(
            pl.len().alias("all"),
            _BEGUN.sum().alias("begun"),
            pl.col("start_s").filter(_BEGUN).min().alias("start_s"),
            pl.col("start_s").filter(_BEGUN).max().alias("end_s"),
            (_BEGUN & (pl.col("backward_packets") == 0)).sum().alias("unanswered"),
            (_BEGUN & (pl.col("forward_packets") == 0)).sum().alias("unasked"),
        )
        .collect()
        .row(0, named=True)
    )
    begun: int = row["begun"]
    if begun < LEAST or begun * 2 <= row["all"]:
        return None
    duration_s: float = row["end_s"] - row["start_s"]
    if begun < duration_s * LEAST_RATE:
        return None
    ends = (
        connections.filter(_BEGUN)
        .select(
            pl.col("flow").str.split_exact(" > ", 1).struct.rename_fields(["client", "service"])
        )
        .unnest("flow")
        .select(
            "service",
            pl.col("client").str.strip_chars_end(_PORT).alias("source"),
            pl.col("service").str.strip_chars_end(_PORT).alias("host"),
        )
    )
    services = ends.group_by("service").len()
    top = services.sort("len", "service", descending=[True, False]).head(1)
    frames = pl.collect_all([top, ends.select(pl.all().n_unique())])
    service, for_service = frames[0].row(0)
    counted = frames[1].row(0, named=True)
    kind: Literal["syn-flood", "scan", "backscatter"] = "scan"
    if row["unasked"] * 2 > begun:
        kind = "backscatter"
    elif for_service * 2 > begun or counted["source"] * 2 > begun:
        kind = "syn-flood"
    return Flood(
        kind=kind,
        connections=begun,
        share=begun / row["all"],
        unanswered=row["unanswered"],
        service=service,
        for_service=for_service,
        services=counted["service"],
        hosts=counted["host"],
        sources=counted["source"],
        start_s=row["start_s"],
        duration_s=duration_s,
    )
