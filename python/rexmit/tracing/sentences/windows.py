"""What went wrong in connections beside retransmissions: windows, handshakes, resets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing import sides
from rexmit.tracing.folder import Trace

MOST: Final = 10
"""So many of each kind are told, the worst ones."""

_ENDS: Final = pl.col("flow").str.split_exact(" > ", 1).struct
_CLIENT: Final = _ENDS.field("field_0")
_SERVER: Final = _ENDS.field("field_1")


@dataclass(frozen=True)
class HeldUp:
    """A sender that its peer's window held up. `number` is the connection's row in
    connections.parquet; `sender` and `receiver` are the ends, the receiver being the one that
    offered the window. It closed it `times` times, for `closed_s` in all, in which the sender sent
    `probes`; for `full_s` it was open and full. `share` is that of both in the connection's
    duration.
    """

    number: int
    capture: str
    sender: str
    receiver: str
    times: int
    closed_s: float
    probes: int
    full_s: float
    duration_s: float
    share: float | None


@dataclass(frozen=True)
class Failed:
    """Connections to one service that never came to be. `handshake` is `unanswered`, `refused` or
    `half-open` (no ACK followed the service's SYN-ACK), `clients` from how many addresses they
    came, `syns` how many SYNs they sent.
    """

    service: str
    handshake: str
    connections: int
    clients: int
    syns: int


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


@dataclass(frozen=True)
class Troubles:
    """The worst of each kind; the numbers are of all."""

    held_up: tuple[HeldUp, ...]
    with_zero_window: int
    zero_window_s: float
    with_full_window: int
    window_full_s: float
    failed: tuple[Failed, ...]
    unanswered: int
    refused: int
    half_open: int
    resets: tuple[Resets, ...]
    reset: int


def troubles(trace: Trace, most: int = MOST) -> Troubles:
    """Reads the connections once for each kind."""
    windows = pl.concat(_held_up(trace, side) for side in SIDES)
    worst = (
        windows.filter(pl.col("closed_s") + pl.col("full_s") > 0)
        .sort(pl.col("closed_s") + pl.col("full_s"), "number", descending=[True, False])
        .head(most)
    )
    sums = windows.select(
        _connections(pl.col("times") > 0).alias("with_zero_window"),
        pl.col("closed_s").sum().alias("zero_window_s"),
        _connections(pl.col("full_s") > 0).alias("with_full_window"),
        pl.col("full_s").sum().alias("window_full_s"),
    )
    failed, reset = _failed(trace), _resets(trace)
    tables = pl.collect_all([worst, sums, failed, reset])
    by_kind = dict(tables[2].group_by("handshake").agg(pl.col("connections").sum()).iter_rows())
    return Troubles(
        held_up=tuple(HeldUp(**row) for row in tables[0].to_dicts()),
        **tables[1].row(0, named=True),
        failed=tuple(Failed(**row) for row in tables[2].head(most).to_dicts()),
        unanswered=by_kind.get("unanswered", 0),
        refused=by_kind.get("refused", 0),
        half_open=by_kind.get("half-open", 0),
        resets=tuple(Resets(**row) for row in tables[3].head(most).to_dicts()),
        reset=int(tables[3]["connections"].sum()),
    )


def _connections(held_up: pl.Expr) -> pl.Expr:
    """How many there are of which either direction is held up."""
    return pl.col("number").filter(held_up).n_unique()


def _held_up(trace: Trace, side: str) -> pl.LazyFrame:
    """The senders in one direction, and the windows that their peers offered them."""
    other = SIDES[side == SIDES[0]]
    sender, receiver = (_CLIENT, _SERVER) if side == SIDES[0] else (_SERVER, _CLIENT)
    closed_s, full_s = pl.col(f"{other}_zero_window_s"), pl.col(f"{side}_window_full_s")
    full_s = full_s.fill_null(0.0)
    share = pl.when(pl.col("duration_s") > 0).then((closed_s + full_s) / pl.col("duration_s"))
    columns = ("zero_windows", "zero_window_s", "window_full_s", "window_probes")
    return sides.beside(trace.numbered(), trace, *columns).select(
        "number",
        "capture",
        sender.alias("sender"),
        receiver.alias("receiver"),
        pl.col(f"{other}_zero_windows").alias("times"),
        closed_s.alias("closed_s"),
        pl.col(f"{side}_window_probes").alias("probes"),
        full_s.alias("full_s"),
        "duration_s",
        share.alias("share"),
    )


def _failed(trace: Trace) -> pl.LazyFrame:
    host = _CLIENT.str.extract(r"^(.*):\d+$")
    return (
        sides.beside(trace.scan("connections"), trace, "syns")
        .filter(pl.col("handshake").is_in(["unanswered", "refused", "half-open"]))
        .group_by(_SERVER.alias("service"), "handshake")
        .agg(
            pl.len().alias("connections"),
            host.n_unique().alias("clients"),
            pl.col("forward_syns").sum().alias("syns"),
        )
        .sort("connections", "service", "handshake", descending=[True, False, False])
    )


def _resets(trace: Trace) -> pl.LazyFrame:
    """Those of a SYN are told by the handshake."""
    service = pl.col("service")
    ways = ["reset_by", "reset_state", "reset_after"]
    return (
        trace.scan("connections")
        .filter(pl.col("reset_by").is_not_null() & (pl.col("handshake") != "refused"))
        .select(*ways, _SERVER.alias("service"), "reset_silence_s")
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
