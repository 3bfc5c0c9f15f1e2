"""Requests that somebody waited for: the slowest rows of the table `requests`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import polars as pl

from rexmit.tracing import sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.selection import Selection
from rexmit.values import dataclass

MOST: Final = 5
"""Requests that are named."""

_CLIENT, _SERVER = (end.str.replace(r":\d+$", "") for end in (sides.CLIENT, sides.SERVER))
_LOOPBACK: Final = r"^(127\.|\[?::1\]?$)"


BESIDE_S: Final = 0.001
"""From a monitor beside a host there and back."""


@dataclass(frozen=True)
class Asked:
    """A request of the connection in row `number` of connections.parquet. From its first byte to
    the last of the answer it took `took_s`, to the first one `first_s`; where that never came,
    `took_s` is what its `owner` had, who has `owner_s` of it. `requests` were under way, at least.
    Names are foreign text.
    """

    number: int
    flow: str
    kind: str
    after_s: float
    took_s: float
    first_s: float | None
    owner: str
    owner_s: float
    requests: int
    name: str | None
    method: str | None
    path: str | None
    status: int | None

    @property
    def server(self) -> str:
        """Who was asked."""
        return _host(self.flow)


@dataclass(frozen=True)
class Slow(Asked):
    """A request that took long, and the one that its server made of another `behind` it meanwhile,
    if there is no doubt."""

    behind: Asked | None = None


@dataclass(frozen=True)
class Requests:
    """The requests of a trace: how many rows there are, how many of them took as long as a `slow`
    wait, and the slowest of those."""

    rows: int
    slow: int
    slowest: tuple[Slow, ...]


def timed(trace: Trace) -> pl.LazyFrame:
    """Rows of `requests` with `row`, that of their connection, and their times in seconds."""
    of = trace.numbered().select("connection", pl.col("number").alias("row"), "start_s")
    start = pl.col("start_ns")
    took_ns = pl.coalesce(pl.col("last_ns") - start, "owner_ns")
    return (
        trace.scan("requests")
        .join(of, on="connection", maintain_order="left")
        .with_columns(
            pl.col("row").cast(pl.Int64),
            (start / 1e9 - pl.col("start_s")).alias("after_s"),
            (start + took_ns).alias("end_ns"),
            (took_ns / 1e9).alias("took_s"),
            ((pl.col("first_ns") - start) / 1e9).alias("first_s"),
            (pl.col("owner_ns") / 1e9).alias("owner_s"),
        )
    )


def requests(trace: Trace) -> Requests:
    """Reads the trace's table of requests."""
    rows = timed(trace)
    whole = _whole(trace)
    slow = rows.filter(pl.col("took_s") >= trace.slow_s)
    every, many, worst = pl.collect_all(
        [
            rows.select(pl.len()),
            slow.select(pl.len()),
            slow.top_k(MOST, by="took_s").sort(
                "took_s", "start_ns", "row", descending=[True, False, False]
            ),
        ]
    )
    slowest = tuple(Slow(**_told(row), behind=_behind(whole, row)) for row in worst.to_dicts())
    return Requests(int(every.item()), int(many.item()), slowest)


def slowest_of(trace: Trace, host: str) -> tuple[float, Asked | None]:
    """How long the slowest request waited for a server, and the request that it made meanwhile."""
    of_host = _SERVER.eq(host) & (pl.col("owner") == "server")
    slowest = timed(trace).filter(of_host).top_k(1, by="owner_s").collect().to_dicts()
    if not slowest:
        return 0.0, None
    return slowest[0]["owner_s"], _behind(_whole(trace), slowest[0])


def _whole(trace: Trace) -> Trace:
    """With what was not selected, which may leave a doubt all the same."""
    return trace.whole if isinstance(trace, Selection) and trace.whole else trace


def _host(flow: str) -> str:
    """The server of a flow."""
    return flow.partition(" > ")[2].rpartition(":")[0]


def _told(row: dict[str, Any]) -> dict[str, Any]:
    every = {**row, "number": row["row"]}
    return {one.name: every[one.name] for one in fields(Asked)}


def _behind(trace: Trace, front: dict[str, Any]) -> Asked | None:
    """The request that a server made while it let this one wait: the requests of one connection of
    its host lie within the wait, and no other request comes to that host or from it meanwhile.
    """
    if front["owner"] != "server" or front["first_ns"] is None:
        return None
    host = _host(front["flow"])
    own = _CLIENT.eq(host)
    if _is_beside(trace, front["connection"]):
        # What goes on within a host is seen on that host alone, which may have other addresses.
        own |= _CLIENT.str.contains(_LOOPBACK) & _SERVER.str.contains(_LOOPBACK)
        own |= pl.col("connection").is_in(_clients_beside(trace))
    there = (
        timed(trace)
        .filter(
            pl.col("connection") != front["connection"],
            pl.col("start_ns") < front["first_ns"],
            pl.col("end_ns") > front["asked_ns"],
            own | _SERVER.eq(host),
        )
        .with_columns(own.alias("own"))
        .collect()
    )
    within = (
        there["own"]
        & (there["start_ns"] >= front["start_ns"])
        & (there["end_ns"] <= front["last_ns"])
    )
    if there["connection"].n_unique() != 1 or not within.all():
        return None
    longest = there.sort("took_s", "start_ns", descending=[True, False]).row(0, named=True)
    most = longest["took_s"] * 2 > front["owner_s"]
    return Asked(**_told(longest)) if most else None


def _clients_beside(trace: Trace) -> list[int]:
    """Connections whose client the monitor stood beside."""
    beside = (pl.col("direction") == "forward") & (pl.col("monitor_delay_s") <= BESIDE_S)
    return trace.scan("sides").filter(beside).select("connection").collect()["connection"].to_list()


def _is_beside(trace: Trace, connection: int) -> bool:
    """Whether the monitor stood beside a connection's server."""
    mine = (pl.col("connection") == connection) & (pl.col("direction") == "backward")
    rows = trace.scan("sides").filter(mine).select("position").collect()
    return bool((rows["position"] == "sender").any())
