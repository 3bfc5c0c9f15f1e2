"""What a trace says on one page: counts, mechanisms, time waited, the worst connections."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from rexmit.store.trace_schema import MECHANISMS
from rexmit.tracing import mechanisms, sides
from rexmit.tracing.files import captured
from rexmit.tracing.floods import flood
from rexmit.tracing.folder import Trace
from rexmit.tracing.groups import overall, queued
from rexmit.tracing.owners import HALF_SEEN, owners
from rexmit.tracing.points.summary import summary as of_points
from rexmit.tracing.requests import requests
from rexmit.tracing.sentences import handshakes
from rexmit.tracing.sentences.reasons import reason
from rexmit.tracing.sentences.retransmissions import verdict
from rexmit.tracing.sentences.senders import in_words
from rexmit.tracing.sentences.unacked import unacked
from rexmit.tracing.summed import Multipath, OfMechanism, Sender, Summary, Totals, Volume, Worst
from rexmit.tracing.terms import EITHER
from rexmit.tracing.troubles import troubles

WORST: Final = 10


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
        *_unsure(trace),
        unacked(trace),
        of_points(trace),
        owners(trace),
        trace.slow_s,
        requests(trace),
        queued(trace),
    )


_OF_SIDES: Final = (
    *("packets", "bytes", "unique_bytes", "bytes_retransmitted", "segments", "wire_segments"),
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
    address = (end.str.replace(r":\d+$", "") for end in (sides.CLIENT, sides.SERVER))
    clients, servers = (one.n_unique().alias(name) for one, name in zip(address, "cs", strict=True))
    row = trace.scan("connections").select(clients, servers).collect().row(0)
    return row[0], row[1]


def _half_seen(trace: Trace) -> int:
    return int(trace.scan("connections").select(HALF_SEEN.sum()).collect().item())


def _volume(trace: Trace) -> Volume:
    data = pl.col("length_bytes") > 0
    again = pl.col("mechanism") == "mptcp-reinject"
    rows = trace.scan("retransmissions").join(
        _cut_at(trace), on=["connection", "direction"], how="left", maintain_order="left"
    )
    cut = (pl.col("length_bytes") / pl.col("cut_bytes")).ceil().fill_null(1)
    row = (
        rows.select(
            data.sum(),
            cut.filter(data).sum().cast(pl.Int64).alias("segments"),
            (~data).sum().alias("others"),
            pl.col("length_bytes").filter(again).sum().alias("reinjected"),
        )
        .collect()
        .row(0)
    )
    # A packet may bear new bytes behind those that were sent before.
    sent_again = trace.scan("sides").select(pl.col("bytes_retransmitted").sum()).collect()
    return Volume(row[0], row[1], row[2], int(sent_again.item()) + row[3])


def _cut_at(trace: Trace) -> pl.LazyFrame:
    """The payload of a segment, of the sides whose packets a network card cut up: what both ends
    offered (536 bytes without an offer: RFC 9293 §3.7.1), less their time stamps (RFC 6691 §2).
    """
    terms = (
        trace.scan("sides")
        .group_by("connection")
        .agg(pl.col("mss_bytes").fill_null(536).min() - 12 * pl.col("timestamps").all())
    )
    cut = pl.col("wire_segments") > pl.col("segments")
    return (
        trace.scan("sides")
        .filter(cut)
        .select("connection", "direction")
        .join(terms, on="connection")
        .rename({"mss_bytes": "cut_bytes"})
    )


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
    need, rows = pl.col("need"), trace.scan("retransmissions").with_columns(verdict())
    counted = rows.group_by("verdict").agg(
        (need == "needed").sum().alias("needed"),
        (need == "spurious").sum().alias("spurious"),
        (need == "unknown").sum().alias("unknown"),
        pl.col("detection_s").median().alias("median_s"),
        pl.col("detection_rtts").median().alias("median_rtts"),
    )
    by_connection = {name: mechanisms.total("waited_s", [name]) for name in MECHANISMS}
    once = (
        mechanisms.beside(trace.scan("connections"), trace, **by_connection)
        .select(pl.col(MECHANISMS).sum())
        .unpivot(variable_name="mechanism", value_name="once_s")
    )
    # Where both ends wait, a moment counts once: each verdict has its part of that.
    mechanism = pl.col("mechanism").fill_null("unknown")
    every_s, number = (pl.col(name).sum().over("mechanism") for name in ("waited_s", "len"))
    part = pl.when(every_s > 0).then(pl.col("waited_s") / every_s).otherwise(pl.col("len") / number)
    waited = (
        rows.group_by(mechanism, "verdict")
        .agg(pl.col("waited_s").sum(), pl.len())
        .join(once, on="mechanism")
        .with_columns((pl.col("once_s") * part).alias("waited_s"))
        .group_by("verdict")
        .agg(pl.col("waited_s").sum())
    )
    every = [
        OfMechanism(first, other or None, **row)
        for row in counted.join(waited, on="verdict").collect().to_dicts()
        for first, _, other in [row.pop("verdict").partition(EITHER)]
    ]
    return tuple(sorted(every, key=lambda one: (-one.waited_s, -one.retransmissions, one.verdict)))


def _unsure(trace: Trace) -> tuple[tuple[tuple[str, int], ...], float | None]:
    """`missing` and `waited_most_s` of a summary, of a trace that has the columns."""
    rows = trace.scan("retransmissions")
    missing: tuple[tuple[str, int], ...] = ()
    most_s = None
    names = rows.collect_schema().names()
    if "missing" in names:
        unknown = rows.filter(pl.col("missing").is_not_null())
        counted = unknown.group_by("missing").len().sort("len", "missing", descending=[True, False])
        missing = tuple(counted.collect().rows())
    if "waited_most_s" in names:
        late_s = (pl.col("waited_most_s") - pl.col("waited_s")).sum()
        lasted = trace.scan("connections").select(pl.col("waited_s", "duration_s").sum())
        more_s = float(rows.select(late_s).collect().item())
        waited_s, duration_s = lasted.collect().row(0)
        most_s = min(waited_s + more_s, duration_s)
    return missing, most_s


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
    stacks = [
        in_words(*row[:3], syn_seen=row[3]) for row in kinds.select(*names, "syn_seen").rows()
    ]
    rows = (
        kinds.with_columns(
            pl.Series("words", stacks, pl.String),
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
            sides.beside(handshakes.settled(trace), trace, "stack"),
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
            "end_s",
            "forward_stack",
            "backward_stack",
            "waited_s",
            "forward_waited_s",
            "retransmissions",
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
        reason=reason(retransmissions, handshake=row["handshake"], end_s=row["end_s"]),
    )
