"""What a trace says on one page: counts, mechanisms, time waited, the worst connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from rexmit.store.trace_schema import MECHANISMS
from rexmit.tracing import mechanisms, sides
from rexmit.tracing.files import Captured, captured
from rexmit.tracing.floods import Flood, flood
from rexmit.tracing.folder import Trace
from rexmit.tracing.groups import Group, overall
from rexmit.tracing.points.summary import Points
from rexmit.tracing.points.summary import summary as of_points
from rexmit.tracing.reasons import reason
from rexmit.tracing.sender_words import in_words
from rexmit.tracing.troubles import Troubles, troubles
from rexmit.tracing.unacked import Unacked, unacked

WORST: Final = 10


@dataclass(frozen=True)
class Totals:
    """Of all connections. `with_loss` have at least one retransmission that was not spurious;
    `waited_s` is the time waited, summed over connections as `duration_s` is.
    """

    connections: int
    with_retransmissions: int
    with_loss: int
    packets: int
    bytes: int
    segments: int
    retransmissions: int
    start_s: float | None
    end_s: float | None
    duration_s: float
    waited_s: float
    mid_stream: int
    one_sided: int
    evicted: int
    capture_losses: int
    with_capture_losses: int
    reordered: int
    network_duplicates: int
    capture_duplicates: int


@dataclass(frozen=True)
class Volume:
    """What was retransmitted: packets with data, other packets (SYN, FIN), bytes of data."""

    data_packets: int
    other_packets: int
    bytes: int


@dataclass(frozen=True)
class OfMechanism:
    """Retransmissions of one mechanism. `waited_s` is the time waited for them; `median_s` and
    `median_rtts` are from the original to the retransmission.
    """

    mechanism: str
    needed: int
    spurious: int
    unknown: int
    waited_s: float
    median_s: float | None
    median_rtts: float | None

    @property
    def retransmissions(self) -> int:
        """All of them."""
        return self.needed + self.spurious + self.unknown


@dataclass(frozen=True)
class Worst:
    """One of the connections that waited longest; `number` is its row in connections.parquet."""

    number: int
    flow: str
    capture: str
    stack: str | None
    duration_s: float
    waited_s: float
    retransmissions: int
    reason: str


@dataclass(frozen=True)
class Sender:
    """Connections by what is known of a sender: `words` says what its SYN and its retransmissions
    name, `stack` is the latter's word in the tables; `by_syn` that the SYN names a system.
    """

    words: str
    stack: str
    by_syn: bool
    connections: int
    retransmissions: int
    waited_s: float


@dataclass(frozen=True)
class Multipath:
    """Multipath TCP: its connections, and their subflows, which are counted as connections, too.
    `reinjections` are packets with data that had gone on another subflow before, `joined` the
    connections of which more than one subflow was seen.
    """

    connections: int
    joined: int
    subflows: int
    reinjections: int
    spurious: int
    reinjected_bytes: int


@dataclass(frozen=True)
class Summary:
    """Everything but what other settings would have done. `multipath` is None where there is no
    Multipath TCP, `flood` where the capture is no flood or scan. `hosts` are how many addresses
    opened connections, and to how many; `half_seen` counts connections of which one direction is in
    the capture although there were two. `points` is None where packets were captured at one point.
    """

    captured: Captured
    totals: Totals
    hosts: tuple[int, int]
    volume: Volume
    overall: Group
    half_seen: int
    troubles: Troubles
    flood: Flood | None
    multipath: Multipath | None
    mechanisms: tuple[OfMechanism, ...]
    senders: tuple[Sender, ...]
    worst: tuple[Worst, ...]
    unacked: tuple[Unacked, ...] = ()
    points: Points | None = None


def summary(trace: Trace) -> Summary:
    """Reads the trace's tables once each."""
    return Summary(
        captured(trace),
        _totals(trace),
        _hosts(trace),
        _volume(trace),
        overall(trace),
        _half_seen(trace),
        troubles(trace),
        flood(trace),
        _multipath(trace),
        _mechanisms(trace),
        _senders(trace),
        _worst(trace),
        unacked(trace),
        of_points(trace),
    )


_OF_SIDES: Final = (
    *("packets", "bytes", "segments"),
    *("capture_losses", "reordered", "network_duplicates", "capture_duplicates"),
)
"""What the totals have of all sides together."""


def _totals(trace: Trace) -> Totals:
    lost = pl.col("capture_losses") > 0
    of_sides = trace.scan("sides").select(
        pl.col(_OF_SIDES).sum(),
        pl.col("connection").filter(lost).n_unique().alias("with_capture_losses"),
    )
    of_connections = mechanisms.beside(
        trace.scan("connections"),
        trace,
        retransmissions=mechanisms.retransmissions(),
        needed=mechanisms.total("needed"),
    ).select(
        pl.len().alias("connections"),
        (pl.col("retransmissions") > 0).sum().alias("with_retransmissions"),
        (pl.col("needed") > 0).sum().alias("with_loss"),
        pl.col("retransmissions").sum(),
        pl.col("start_s").min(),
        pl.col("end_s").max(),
        pl.col("duration_s").sum(),
        pl.col("waited_s").sum(),
        pl.col("mid_stream", "one_sided", "evicted").sum(),
    )
    both = pl.collect_all([of_connections, of_sides])
    return Totals(**{name: value for row in both for name, value in row.row(0, named=True).items()})


def _hosts(trace: Trace) -> tuple[int, int]:
    ends = pl.col("flow").str.split_exact(" > ", 1).struct
    address = (ends.field(f"field_{side}").str.replace(r":\d+$", "") for side in (0, 1))
    clients, servers = (one.n_unique().alias(name) for one, name in zip(address, "cs", strict=True))
    row = trace.scan("connections").select(clients, servers).collect().row(0)
    return row[0], row[1]


def _half_seen(trace: Trace) -> int:
    never = pl.col("handshake").is_in(["unanswered", "refused"])
    rows = trace.scan("connections").select((pl.col("one_sided") & ~never).sum())
    return int(rows.collect().item())


def _volume(trace: Trace) -> Volume:
    data = pl.col("length_bytes") > 0
    again = pl.col("mechanism") == "mptcp-reinject"
    row = (
        trace.scan("retransmissions")
        .select(
            data.sum(),
            (~data).sum().alias("others"),
            pl.col("length_bytes").filter(again).sum().alias("reinjected"),
        )
        .collect()
        .row(0)
    )
    # A packet may bear new bytes behind those that were sent before.
    sent_again = trace.scan("sides").select(pl.col("bytes_retransmitted").sum()).collect()
    return Volume(row[0], row[1], int(sent_again.item()) + row[2])


def _multipath(trace: Trace) -> Multipath | None:
    sizes = (
        trace.scan("connections")
        .filter(pl.col("mptcp_connection").is_not_null())
        .group_by("mptcp_connection")
        .agg(pl.len().alias("subflows"))
        .collect()["subflows"]
    )
    if sizes.is_empty():
        return None
    again = (
        trace.scan("retransmissions")
        .filter(pl.col("mechanism") == "mptcp-reinject")
        .select(
            pl.len().alias("reinjections"),
            (pl.col("need") == "spurious").sum().alias("spurious"),
            pl.col("length_bytes").sum().alias("reinjected_bytes"),
        )
        .collect()
        .row(0, named=True)
    )
    joined = int((sizes > 1).sum())
    return Multipath(sizes.len(), joined, int(sizes.sum()), **again)


def _mechanisms(trace: Trace) -> tuple[OfMechanism, ...]:
    need = pl.col("need")
    rows = (
        trace.scan("retransmissions")
        .group_by(pl.col("mechanism").fill_null("unknown"))
        .agg(
            (need == "needed").sum().alias("needed"),
            (need == "spurious").sum().alias("spurious"),
            (need == "unknown").sum().alias("unknown"),
            pl.col("detection_s").median().alias("median_s"),
            pl.col("detection_rtts").median().alias("median_rtts"),
        )
        .collect()
    )
    by_connection = {name: mechanisms.total("waited_s", [name]) for name in MECHANISMS}
    waited = (
        mechanisms.beside(trace.scan("connections"), trace, **by_connection)
        .select(pl.col(MECHANISMS).sum())
        .collect()
        .row(0, named=True)
    )
    made = [OfMechanism(**row, waited_s=waited[row["mechanism"]]) for row in rows.to_dicts()]
    return tuple(sorted(made, key=lambda one: (-one.waited_s, -one.retransmissions)))


def _senders(trace: Trace) -> tuple[Sender, ...]:
    names = ("stack", "stacks", "syn_system")
    # No stack of TCP explains what Multipath TCP sends again.
    own = [name for name in MECHANISMS if name != "mptcp-reinject"]
    of_side = ["connection", "direction"]
    again = (
        trace.scan("mechanisms")
        .group_by(of_side)
        .agg(
            retransmissions=mechanisms.retransmissions(own),
            waited_s=mechanisms.total("waited_s", own),
        )
        .filter(pl.col("retransmissions") > 0)
    )
    named = (
        trace.scan("sides")
        .join(again, on=of_side, maintain_order="left")
        .select(
            *names,
            pl.col("syn_signature").is_not_null().alias("syn_seen"),
            "retransmissions",
            "waited_s",
        )
        .collect()
    )
    kinds = named.group_by(*names, "syn_seen").agg(
        pl.len().alias("connections"), pl.col("retransmissions").sum(), pl.col("waited_s").sum()
    )
    said = [in_words(*row[:3], syn_seen=row[3]) for row in kinds.select(*names, "syn_seen").rows()]
    rows = (
        kinds.with_columns(
            pl.Series("words", said, pl.String),
            pl.col("stack").fill_null("none"),
            pl.col("syn_system").is_not_null().alias("by_syn"),
        )
        .group_by("words", "stack", "by_syn")
        .agg(pl.col("connections", "retransmissions", "waited_s").sum())
        .sort("retransmissions", "words", descending=[True, False])
    )
    return tuple(Sender(**row) for row in rows.to_dicts())


def _worst(trace: Trace) -> tuple[Worst, ...]:
    rows = (
        mechanisms.beside(
            sides.beside(trace.numbered(), trace, "stack", "rtt_max_s", "segments"),
            trace,
            retransmissions=mechanisms.retransmissions(),
            forward_waited_s=mechanisms.total("waited_s", side="forward"),
        )
        .select(
            "number",
            "capture",
            "connection",
            "flow",
            "duration_s",
            "forward_stack",
            "backward_stack",
            "waited_s",
            "forward_waited_s",
            "retransmissions",
            pl.max_horizontal("forward_rtt_max_s", "backward_rtt_max_s").alias("rtt_max_s"),
            sides.both("segments").alias("segments"),
            "handshake",
        )
        .filter(pl.col("waited_s") > 0)
        .top_k(WORST, by="waited_s")
        .sort("waited_s", "number", descending=[True, False])
        .collect()
    )
    retransmissions = (
        trace.scan("retransmissions")
        .filter(pl.col("connection").is_in(rows["connection"].implode()))
        .collect()
    )
    mine = retransmissions.sort("time_ns").partition_by("connection", as_dict=True)
    return tuple(
        _one(row, mine[key]) for row in rows.to_dicts() if (key := (row["connection"],)) in mine
    )


def _one(row: dict[str, Any], retransmissions: pl.DataFrame) -> Worst:
    side = "forward" if row["forward_waited_s"] * 2 > row["waited_s"] else "backward"
    return Worst(
        number=row["number"],
        flow=row["flow"],
        capture=row["capture"],
        stack=row[f"{side}_stack"],
        duration_s=row["duration_s"],
        waited_s=row["waited_s"],
        retransmissions=row["retransmissions"],
        reason=reason(retransmissions, segments=row["segments"], handshake=row["handshake"]),
    )
