"""What a trace shows of each server, and of each request there, as sides of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import polars as pl

from rexmit.comparison.traces.apart import Side
from rexmit.statistics.spread import spread
from rexmit.tracing import owners, requests, sides
from rexmit.tracing.folder import Trace

AXES: Final = ("host", "port", "path")

ALL_REQUESTS: Final = "all requests"


@dataclass(frozen=True, order=True)
class Place:
    """A server, or requests there by method, name and path; `path` is empty for the server's
    connections.
    """

    host: str
    port: str
    path: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        """In the order of `AXES`."""
        return self.host, self.port, self.path

    def value(self, axis: str) -> str:
        """The value on one axis."""
        return self.values[AXES.index(axis)]

    def __str__(self) -> str:
        """`10.0.0.1:443`, `GET /report of 10.0.0.1:80`."""
        end = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        return f"{self.path} of {end}" if self.path else end


Quantity = tuple[str, str]
"""What is compared, and of `time` the owner in the account whose it is."""

Measured = Mapping[Quantity, Side]

#: Rows of `requests` that nobody asked for by itself.
_SET_UP: Final = ("tls-set-up", "greeting")


@dataclass(frozen=True)
class Seen:
    """A place: its connections or requests, what is measured there, and of a server where the
    monitor stood, both when they are asked for: there may be very many places."""

    units: int
    measure: Callable[[], Measured]
    positions: pl.Series | None = None

    @cached_property
    def measured(self) -> Measured:
        """What is compared."""
        return self.measure()

    @cached_property
    def position(self) -> str | None:
        """Where the monitor stood most often; None where that is not known."""
        if self.positions is None:
            return None
        usual = self.positions.drop_nulls().mode().sort()
        return usual[0] if len(usual) else None


def observed(trace: Trace, wanted: pl.DataFrame | None = None) -> dict[Place, Seen]:
    """All places of a trace, or the servers whose `host` and `port` are `wanted`."""
    connections = _connections(trace)
    if wanted is not None:
        connections = connections.join(wanted, on=["host", "port"], how="semi")
    account = _account(trace, connections)
    asked = _requests(trace, connections)
    seen: dict[Place, Seen] = {}
    times = account.partition_by("host", "port", as_dict=True)
    for key, rows in connections.partition_by("host", "port", as_dict=True).items():
        measure = partial(_of_server, rows, times.get(key))
        seen[Place(*map(str, key))] = Seen(rows.height, measure, rows["position"])
    every = asked.with_columns(pl.lit(ALL_REQUESTS).alias("what"))
    for some in (asked, every):
        for key, rows in some.partition_by("host", "port", "what", as_dict=True).items():
            seen[Place(*map(str, key))] = Seen(rows.height, partial(_of_requests, rows))
    return seen


def servers(trace: Trace) -> pl.DataFrame:
    """`host` and `port` of each server, and its `connections`."""
    rows = trace.scan("connections").with_columns(*_ENDS)
    return rows.group_by("host", "port").agg(pl.len().alias("connections")).collect()


_ENDS: Final = (sides.host(sides.SERVER).alias("host"), sides.port(sides.SERVER).alias("port"))


def _connections(trace: Trace) -> pl.DataFrame:
    """A row each, with what its two directions have together."""
    needed = pl.col("need") == "needed"
    data = trace.scan("retransmissions").filter(pl.col("length_bytes") > 0)
    bursts = data.group_by("connection", "direction", "episode").agg(
        pl.col("length_bytes").sum().alias("again"),
        pl.col("length_bytes").filter(needed).sum().alias("lost"),
    )
    of_bursts = bursts.group_by("connection").agg(
        pl.col("lost").sum(),
        pl.col("lost", "again").cast(pl.Float64).pow(2).sum().name.suffix("_squares"),
    )
    both = ("bytes", "unique_bytes", "bytes_retransmitted", "segments")
    beside = sides.beside(trace.numbered(), trace, *both, "rtt_median_s", "position")
    return (
        beside.join(of_bursts, on="connection", how="left", maintain_order="left")
        .select(
            "connection",
            *_ENDS,
            "handshake_rtt_s",
            # The shorter one has the monitor's own side.
            pl.max_horizontal("forward_rtt_median_s", "backward_rtt_median_s").alias("rtt_s"),
            pl.col("backward_position").alias("position"),
            "waited_s",
            *(sides.both(name).alias(name) for name in both),
            pl.col("lost", "lost_squares", "again_squares").fill_null(0),
        )
        .collect()
    )


def _account(trace: Trace, connections: pl.DataFrame) -> pl.DataFrame:
    """Seconds of each owner in each connection, none left out; empty where the trace has none."""
    rows = owners.joined(trace, pl.col("asked")).select("connection", "owner", "length_ns")
    known = (
        rows.group_by("connection", "owner")
        .agg(pl.col("length_ns").sum() / 1e9)
        .collect()
        .join(connections.select("connection", "host", "port"), on="connection")
    )
    return known.rename({"length_ns": "length_s"})


def _requests(trace: Trace, connections: pl.DataFrame) -> pl.DataFrame:
    rows = requests.timed(trace).filter(~pl.col("kind").is_in(_SET_UP))
    address = pl.concat_str("name", "path", ignore_nulls=True)
    # DNS asks for its path, whoever is asked.
    asked = pl.when(pl.col("kind") == "dns").then("path").otherwise(address)
    what = pl.concat_str(
        pl.col("method"), asked.replace("", None), separator=" ", ignore_nulls=True
    )
    return (
        rows.select(
            "connection",
            pl.when(what == "").then(pl.lit("requests")).otherwise(what).alias("what"),
            "first_s",
            ((pl.col("last_ns") - pl.col("start_ns")) / 1e9).alias("total_s"),
        )
        .collect()
        .join(connections.select("connection", "host", "port"), on="connection")
    )


def _of_server(rows: pl.DataFrame, times: pl.DataFrame | None) -> dict[Quantity, Side]:
    return {**_of_connections(rows), **dict(_times(rows.height, times))}


def _of_connections(rows: pl.DataFrame) -> dict[Quantity, Side]:
    measured = {(name, ""): mean(rows[column]) for name, column in _MEANS.items()}
    measured |= {(name, ""): _share(rows, *columns) for name, columns in _SHARES.items()}
    return {name: side for name, side in measured.items() if side is not None}


_MEANS: Final = {
    "round-trip": "handshake_rtt_s",
    "data-round-trip": "rtt_s",
    "waited": "waited_s",
    "payload": "unique_bytes",
}

_SHARES: Final = {
    "loss": ("lost", "lost_squares"),
    "retransmitted": ("bytes_retransmitted", "again_squares"),
}


def _times(connections: int, rows: pl.DataFrame | None) -> Iterator[tuple[Quantity, Side]]:
    """Seconds a connection; one without an owner has none of its time."""
    if rows is None:
        return
    for (owner,), some in rows.partition_by("owner", as_dict=True).items():
        rest = pl.Series([0.0] * (connections - some.height), dtype=pl.Float64)
        side = mean(some["length_s"].extend(rest))
        if side is not None:
            yield ("time", str(owner)), side


def none_of(units: int) -> Side:
    """What a place has of an owner that its account does not name."""
    return Side(units, 0.0, None if units < 2 else 0.0, max(1, units - 1))


def _of_requests(rows: pl.DataFrame) -> dict[Quantity, Side]:
    both = {"first-byte": mean(rows["first_s"]), "total": mean(rows["total_s"])}
    times = {(name, ""): side for name, side in both.items() if side is not None}
    never, every = rows["first_s"].null_count(), rows.height
    # Shares of few are not without error (Agresti and Caffo 2000).
    share = (never + 1) / (every + 2)
    error = math.sqrt(share * (1 - share) / every)
    return {**times, ("unanswered", ""): Side(every, never / every, error)}


def mean(values: pl.Series) -> Side | None:
    """Nulls do not count; None where nothing does."""
    sample = spread(values)
    one = sample.estimate
    return None if one is None else Side(sample.n, one.value, one.error, one.freedom)


def _share(rows: pl.DataFrame, part: str, squares: str) -> Side | None:
    """The share of all payload. What goes missing together is one event, and what one connection
    misses may go together as well: the error is the larger of both, and that of a single segment
    at least.
    """
    sent = int(rows["bytes"].sum())
    if not sent:
        return None
    value = float(rows[part].sum()) / sent
    segment = sent / max(1, int(rows["segments"].sum()))
    together = float(rows[squares].sum())
    apart = 0.0
    if rows.height > 1:
        residual = ((rows[part] - value * rows["bytes"]) ** 2).sum()
        apart = float(residual) * rows.height / (rows.height - 1)
    return Side(rows.height, value, math.sqrt(max(together, apart, segment**2)) / sent)
