"""Connections summed up by host, server port or prefix: traffic, round trips, waits, troubles."""

from __future__ import annotations

import ipaddress
from dataclasses import fields
from typing import Final, Literal, get_args

import polars as pl

from rexmit.errors import UserError
from rexmit.store.trace_schema import SIDES
from rexmit.tracing import sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.handshakes import settled
from rexmit.values import dataclass

Key = Literal["host", "port", "prefix"]

KEYS: Final[tuple[Key, ...]] = get_args(Key)
"""What connections are summed up by. A host or a prefix (/24, /64) has those of either end, so that
a connection between two of them counts for both; a port those to it as the server's."""

LEAST_SEGMENTS: Final = 10
"""With fewer the time is that of the sender's program, and the first window's, more than the
path's."""

_PREFIX_BITS: Final = {4: 24, 6: 64}


@dataclass(frozen=True)
class Group:
    """Connections of one host, port or prefix, or all of a trace.

    Bytes are payload, of both directions; `share_retransmitted` is None where there are none. Round
    trips and throughput are of the direction with more samples and more bytes: `rtt_median_s` is
    the median of the connections' medians, `rtt_p95_s` the 95th percentile of their 95th
    percentiles. Throughput is different payload from the first packet with data to the last, in
    bits per second, of connections that took longer for it than a round trip, where one is known,
    and sent at least `LEAST_SEGMENTS` different segments; `throughput_connections` are those.
    `waited_s` is the sum of what either side's retransmissions were waited for.

    A window is closed by the receiver whose it is: `zero_window_s` is that of the group's own end,
    `peer_zero_window_s` that of the other; the same for who was held up by a full window
    (`window_full_s` is time in which the group's own end had more to send than its peer took), and
    for resets. A port's own end is the server, and so is that of all connections together.
    """

    key: str
    connections: int
    bytes: int
    bytes_retransmitted: int
    share_retransmitted: float | None
    rtt_median_s: float | None
    rtt_p95_s: float | None
    throughput_connections: int
    throughput_median_bps: float | None
    throughput_p95_bps: float | None
    waited_s: float
    zero_windows: int
    zero_window_s: float
    peer_zero_windows: int
    peer_zero_window_s: float
    window_full_s: float
    peer_window_full_s: float
    resets: int
    peer_resets: int
    unanswered: int
    refused: int


def by(trace: Trace, key: Key) -> tuple[Group, ...]:
    """One group for each host, port or prefix, as in `table`. Raises UserError for another key."""
    if key not in KEYS:
        raise UserError(f"connections are not summed up by {key}", f"one of {', '.join(KEYS)}")
    return tuple(Group(**row) for row in table(trace, key).to_dicts())


def table(trace: Trace, key: Key) -> pl.DataFrame:
    """A row for each host, port or prefix with the values of a `Group`, those with the longest
    waits first, then those with the most bytes.
    """
    seated = ("backward",) if key == "port" else SIDES
    seats = pl.concat(_seats(trace, side).with_columns(_key(key)) for side in seated)
    # Both ends may be in one prefix.
    rows = seats.unique(["number", "key"], keep="first", maintain_order=True).collect()
    if key == "prefix":
        rows = rows.with_columns(_prefixes(rows["key"]))
    if key != "port":
        rows = rows.unique(["number", "key"], keep="first", maintain_order=True)
    return (
        rows.group_by("key")
        .agg(*_SUMS)
        .sort("waited_s", "bytes", "key", descending=[True, True, False])
        .select(_VALUES)
    )


def overall(trace: Trace) -> Group:
    """All connections together; their own ends are the servers."""
    every = _seats(trace, "backward").select(pl.lit("all").alias("key"), *_SUMS)
    return Group(**every.select(_VALUES).collect().row(0, named=True))


@dataclass(frozen=True)
class Queued:
    """Directions of `connections` whose round trips grew as data queued on their path: medians of
    their shortest and of their 95th percentiles, and the connection in row `number` whose grew
    most, to `most_s`.
    """

    connections: int
    rest_s: float
    load_s: float
    number: int
    most_s: float


GREW: Final = (1.25, 0.002)
"""From so many times the shortest round trip, and so many seconds, on it has grown
(docs/explanation/time.md)."""


def queued(trace: Trace) -> Queued | None:
    """None where no path was at its rate for a round trip, or none of these grew."""
    rest_s, load_s = pl.col("rtt_min_s"), pl.col("rtt_p95_s")
    at_rate = trace.scan("account").filter(pl.col("owner") == "path-rate")
    lasted = at_rate.select("connection", "direction", "length_ns")
    rows = (
        trace.scan("sides")
        .join(lasted, on=["connection", "direction"])
        .join(trace.numbered().select("connection", "number"), on="connection")
        .filter(load_s >= rest_s * GREW[0] + GREW[1], pl.col("length_ns") / 1e9 >= load_s)
        .sort(load_s - rest_s, "number", descending=[True, False])
        .select(
            pl.col("number").n_unique().alias("connections"),
            rest_s.median().alias("rest_s"),
            load_s.median().alias("load_s"),
            pl.col("number").first(),
            load_s.first().alias("most_s"),
        )
        .collect()
    )
    row = rows.row(0, named=True)
    return Queued(**row) if row["connections"] else None


def _seats(trace: Trace, side: str) -> pl.LazyFrame:
    """Connections as they are for the end that sends in that direction."""
    other = SIDES[side == SIDES[0]]
    own = sides.CLIENT if side == SIDES[0] else sides.SERVER

    def more(name: str, weight: str) -> pl.Expr:
        forward = pl.col(f"forward_{weight}") >= pl.col(f"backward_{weight}")
        return pl.when(forward).then(f"forward_{name}").otherwise(f"backward_{name}")

    data_s, rtt_s = more("data_s", "unique_bytes"), more("rtt_median_s", "unique_bytes")
    unique, sent = (more(name, "unique_bytes") for name in ("unique_bytes", "bytes"))
    # Retransmissions are as large as others.
    segments = more("wire_segments", "unique_bytes") * unique / sent
    path_s = pl.coalesce(rtt_s, "handshake_rtt_s")
    known = (data_s > path_s) & (path_s > 0) & (segments >= LEAST_SEGMENTS)
    closings = ("zero_windows", "zero_window_s", "window_full_s")
    who = {"forward": "client", "backward": "server"}
    weighed = ("unique_bytes", "data_s", "rtt_samples", "rtt_median_s", "rtt_p95_s")
    beside = ("bytes", "bytes_retransmitted", "wire_segments", *weighed, *closings)
    return sides.beside(settled(trace), trace, *beside).select(
        "number",
        own.alias("own"),
        sides.both("bytes").alias("bytes"),
        sides.both("bytes_retransmitted").alias("bytes_retransmitted"),
        more("rtt_median_s", "rtt_samples").alias("rtt_median_s"),
        more("rtt_p95_s", "rtt_samples").alias("rtt_p95_s"),
        pl.when(known).then(unique * 8 / data_s).alias("rate"),
        "waited_s",
        *(pl.col(f"{side}_{name}").alias(name) for name in closings),
        *(pl.col(f"{other}_{name}").alias(f"peer_{name}") for name in closings),
        (pl.col("reset_by") == who[side]).alias("resets"),
        (pl.col("reset_by") == who[other]).alias("peer_resets"),
        (pl.col("handshake") == "unanswered").alias("unanswered"),
        (pl.col("handshake") == "refused").alias("refused"),
    )


_SUMMED: Final = (
    "bytes",
    "bytes_retransmitted",
    "waited_s",
    *(
        f"{whose}{name}"
        for whose in ("", "peer_")
        for name in ("zero_windows", "zero_window_s", "window_full_s", "resets")
    ),
    "unanswered",
    "refused",
)

_SUMS: Final = (
    pl.len().alias("connections"),
    *(pl.col(name).sum() for name in _SUMMED),
    pl.col("rtt_median_s").median(),
    pl.col("rtt_p95_s").quantile(0.95, "nearest"),
    pl.col("rate").count().alias("throughput_connections"),
    pl.col("rate").median().alias("throughput_median_bps"),
    pl.col("rate").quantile(0.95, "nearest").alias("throughput_p95_bps"),
)

_SHARE: Final = pl.when(pl.col("bytes") > 0).then(pl.col("bytes_retransmitted") / pl.col("bytes"))

_VALUES: Final = tuple(
    _SHARE.alias(one.name) if one.name == "share_retransmitted" else pl.col(one.name)
    for one in fields(Group)
)
"""The values of a `Group` in their order, from sums."""


def _key(key: Key) -> pl.Expr:
    """The port of an end, or its address: `10.0.0.1:80`, `[fd00::1]:80`."""
    part = sides.port if key == "port" else sides.host
    return part(pl.col("own")).alias("key")


def _prefixes(addresses: pl.Series) -> pl.Series:
    """The prefix of each address."""
    unique = addresses.unique()
    prefixes = [_prefix(address) for address in unique]
    return addresses.replace_strict(unique, prefixes, return_dtype=pl.String).alias("key")


def _prefix(address: str) -> str:
    try:
        one = ipaddress.ip_address(address)
    except ValueError:
        return address  # A folder may hold any text.
    bits = _PREFIX_BITS[one.version]
    others = one.max_prefixlen - bits
    return f"{type(one)(int(one) >> others << others)}/{bits}"
