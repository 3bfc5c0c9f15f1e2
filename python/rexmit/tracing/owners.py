"""Whose the time of connections was, as far as somebody waited: sums over the table `account`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing import requests, sides
from rexmit.tracing.files import captured
from rexmit.tracing.folder import LOOKUPS, SLOW_S, Trace
from rexmit.values import dataclass

PART: Final = 0.1
"""Short stretches together are slow from this part of their connection on, and from `LEAST_S`."""

LEAST_S: Final = 0.1

WHOLE: Final = ("round-trip", "sender", "slow-start", "path-rate")
"""What every transfer spends its time on: slow only by stretches that are."""

ONE_BY_ONE_S: Final = 1.0
"""Short round trips of one client to one server are slow where one follows on the other for so
long, and together they are half of the time or more: a person waits for their sum."""

NOBODY: Final = ("closing",)
"""What nobody waited for."""

IDLE: Final = ("between-requests", "messages")
UNKNOWN: Final = "unknown"

LAST: Final = (*IDLE, UNKNOWN)
"""Where nobody waits as far as is known: told last, but for what is not known if that is longer
than all that somebody waited for together."""

SMALL_WINDOW: Final = "small-window"
"""Not after losses alone: also while packets arrive out of order, where nothing is sent again."""

DNS: Final = "dns"
"""Looking up names, before connections begin: no owner of the table `account`."""

_REFUSED: Final = pl.col("handshake").is_in(["refused", "unreachable"])
HALF_SEEN: Final = pl.col("one_sided") & ~_REFUSED & (pl.col("handshake") != "unanswered")
"""Connections of which one direction did not come by, though it was there."""

_RESET: Final = (pl.col("reset_by") == "server").fill_null(value=False) & (
    pl.col("reset_state") == "established"
)

ALERT: Final = pl.concat_str(pl.lit("the "), "alert_by", pl.lit(" sent the alert "), "alert")
"""Who ended the handshake of TLS, and how."""

CLIENT: Final = (
    "client",
    "between-requests",
    "connecting",
    "round-trip",
    "unanswered",
)
"""What is told from the client on, whichever direction is asked for."""


@dataclass(frozen=True)
class Owned:
    """What is one owner's, over the `connections` in which it is slow: `length_s` of the `of_s`
    that they took. Of its `stretches`, `slow` took 0.2 s or more, and `least_s` to `most_s`; they
    are not counted where another time is slow. Most of it is at one of its `hosts`: `host_s` at
    `host`, whose `peer` was at the other end of the longest stretch, that of the connection in row
    `number` of connections.parquet; it ended `evidence_s` after that one's first packet. `behind`
    that host is the server that it waited for meanwhile, as far as its slowest request shows. Their
    senders' retransmissions were needed, or it is not known whether they were; some followed on
    timeouts; of their peers' in the same connections `peers_needed` were. Of its connections some
    were refused, or ICMP said that they cannot be; to the SYNs of others nothing came back, and the
    one SYN of some was answered more than once; of some only one SYN offered window scaling
    (`half_scaled`); of others the last request was answered by a reset;
    of `alerted` a fatal alert ended the TLS handshake, most often at `host` an `alert`. Of
    congestion `marks` their senders heard. Between points of capture the way from a sender held a
    packet for `there_s` at most, and the way back for `back_s`. Where names were looked up,
    `connections` are those, the longest of `name`; there is no `number`.
    """

    owner: str
    length_s: float
    of_s: float
    connections: int
    stretches: int
    slow: int
    least_s: float | None
    most_s: float
    hosts: int
    host: str
    host_s: float
    peer: str
    number: int | None
    evidence_s: float
    behind: str = ""
    marks: int = 0
    there_s: float = 0.0
    back_s: float = 0.0
    needed: int = 0
    not_known: int = 0
    timeouts: int = 0
    peers_needed: int = 0
    refused: int = 0
    unreachable: int = 0
    unanswered: int = 0
    reset: int = 0
    answered_again: int = 0
    half_scaled: int = 0
    alerted: int = 0
    alert: str = ""
    name: str = ""


def slow(slow_s: float) -> pl.Expr:
    """Rows of `joined` whose time somebody waited for, however short it was if it was in vain."""
    noticed = pl.col("longest_ns") >= round(slow_s * 1e9)
    length_s = pl.col("length_ns") / 1e9
    one_by_one = (pl.col("owner") == "round-trip") & pl.col("one_by_one")
    part = (length_s >= PART * pl.col("duration_s")) & (length_s >= LEAST_S)
    of_any = ~pl.col("owner").is_in(list(WHOLE))
    long = noticed | (part & of_any) | one_by_one | pl.col("in_vain")
    return pl.col("asked") & ~pl.col("owner").is_in(list(NOBODY)) & long


def joined(trace: Trace, which: pl.Expr) -> pl.LazyFrame:
    """Rows of `account` of the direction that was asked, of which `which` holds, with what they are
    held against: `number`, `start_s`, `handshake`, who was where, what was retransmitted. `which`
    may name what `account` has, `duration_s`, `in_vain` and `one_by_one`: all else is joined to the
    rows that are left.
    """
    ends = trace.numbered().select(
        "connection",
        "number",
        "duration_s",
        "start_s",
        "handshake",
        _REFUSED.alias("was_refused"),
        _RESET.alias("was_reset"),
        ALERT.alias("alert"),
        _address(sides.CLIENT).alias("client"),
        _address(sides.SERVER).alias("server"),
    )
    # Behind the comma a signature has the scale of the window, or that the SYN has none.
    unscaled = pl.col("syn_signature").str.contains(",-:", literal=True)
    # A handshake in which nothing was sent twice took a round trip.
    of_server = pl.col("direction") == "backward"
    once = (
        trace.scan("sides")
        .group_by("connection")
        .agg(
            (pl.col("syns").max() < 2).alias("once"),
            ((unscaled.sum() == 1) & (unscaled.count() > 1)).alias("half_scaled"),
            (
                (pl.col("syns").filter(of_server).max() > 1)
                & (pl.col("syns").filter(~of_server).max() == 1)
            ).alias("answered_again"),
        )
    )
    # What follows reads both twice, other columns of them: as one plan they would be made twice.
    ends = ends.join(once, on="connection").collect().lazy()
    owner = pl.col("owner")
    connecting = owner == "connecting"
    in_vain = (
        connecting & pl.col("was_refused")
        | (owner == "unanswered") & pl.col("was_reset")
        | (owner == "tls-set-up") & pl.col("alert").is_not_null()
    )
    of_owner = ("duration_s", "was_refused", "was_reset", "alert", "once")
    rows = (
        _stretches(trace)
        .filter("asked")
        .join(ends.select("connection", *of_owner), on="connection")
        .with_columns(
            in_vain.alias("in_vain"),
            pl.when(connecting & pl.col("once") & ~in_vain)
            .then(pl.lit("round-trip"))
            .otherwise(owner)
            .alias("owner"),
        )
        .drop(of_owner[1:])
        .collect()
        .lazy()
    )
    marked = rows.join(_one_by_one(rows, ends), on="connection", how="left").with_columns(
        pl.col("one_by_one").fill_null(value=False)
    )
    of_ends = ends.drop("duration_s", "once")
    return _with_ends(marked.filter(which).join(of_ends, on="connection"), trace)


def _with_ends(rows: pl.LazyFrame, trace: Trace) -> pl.LazyFrame:
    """Rows of `joined` with who was at either end, and what the sender retransmitted."""
    owner = pl.col("owner")
    # The sender that was held up, and its peer.
    swapped = pl.col("other_ns").fill_null(0) * 2 > pl.col("length_ns")
    sender = pl.when(swapped).then(sides.other(pl.col("direction"))).otherwise("direction")
    at_source = (
        pl.when(owner.is_in(list(CLIENT)))
        .then(pl.col("direction") == SIDES[0])
        .when(owner == "server")
        .then(pl.col("direction") == SIDES[1])
        .otherwise((owner == "receiver-window") == swapped)
    )
    both = "client", "server"
    at_client = at_source == (pl.col("direction") == SIDES[0])
    host, peer = (
        pl.when(at_client).then(own).otherwise(other) for own, other in (both, reversed(both))
    )
    return (
        rows.with_columns(sender.alias("sender"))
        .join(_needs(trace), on=["connection", "sender"], how="left")
        .join(
            _needs(trace).select(
                "connection",
                sides.other(pl.col("sender")).alias("sender"),
                pl.col("needed").alias("peers_needed"),
            ),
            on=["connection", "sender"],
            how="left",
        )
        .join(_marks(trace), on=["connection", "sender"], how="left")
        .join(_held(trace), on=["connection", "sender"], how="left")
        .with_columns(
            host.alias("host"),
            peer.alias("peer"),
            pl.col("needed", "timeouts", "peers_needed", "marks").fill_null(0),
            pl.col("there_s", "back_s").fill_null(0.0),
            pl.col("not_known").fill_null((owner != SMALL_WINDOW).cast(pl.UInt32)),
        )
    )


def slow_connections(trace: Trace) -> pl.DataFrame:
    """Rows in connections.parquet (`number`) of connections that somebody waited for, and for how
    long: `length_s`.
    """
    waited = slow(trace.slow_s) & ~pl.col("owner").is_in(list(IDLE))
    rows = joined(trace, waited).group_by(pl.col("number").cast(pl.Int64))
    return rows.agg((pl.col("length_ns").sum() / 1e9).alias("length_s")).collect()


def _one_by_one(rows: pl.LazyFrame, ends: pl.LazyFrame) -> pl.LazyFrame:
    """Connections whose round trips follow on each other: within each, or from one connection to
    the next between two hosts that have one at a time.
    """
    pair = ("client", "server")
    length_s, owner = pl.col("length_ns") / 1e9, pl.col("owner")
    of_each = (
        rows.filter(~owner.is_in(list(NOBODY)))
        .group_by("connection")
        .agg(
            length_s.filter(owner == "round-trip").sum().alias("round_s"),
            length_s.sum().alias("open_s"),
        )
    )
    every = ends.join(of_each, on="connection")
    end_s = pl.col("start_s") + pl.col("duration_s")
    of_pair = every.group_by(*pair).agg(
        (end_s.max() - pl.col("start_s").min()).alias("span_s"),
        pl.col("open_s").sum(),
        pl.col("round_s").sum().alias("rounds_s"),
    )

    def long(length: str, of: str) -> pl.Expr:
        return (pl.col(length) >= ONE_BY_ONE_S) & (pl.col(length) * 2 >= pl.col(of))

    in_turn = long("rounds_s", "span_s") & (pl.col("open_s_right") <= pl.col("span_s"))
    return every.join(of_pair, on=list(pair)).select(
        "connection", (long("round_s", "duration_s") | in_turn).alias("one_by_one")
    )


def _needs(trace: Trace) -> pl.LazyFrame:
    """Of each sender of retransmissions, how many were needed, of how many nobody knows, and how
    many followed on timeouts.
    """
    need = pl.col("need")
    return (
        trace.scan("retransmissions")
        .group_by("connection", pl.col("direction").alias("sender"))
        .agg(
            (need == "needed").sum().alias("needed"),
            (~need.is_in(["needed", "spurious"])).sum().alias("not_known"),
            pl.col("mechanism").is_in(["rto", "rto-recovery"]).sum().alias("timeouts"),
        )
    )


def _marks(trace: Trace) -> pl.LazyFrame:
    """Of which congestion marks each sender heard."""
    return trace.scan("sides").select(
        "connection",
        pl.col("direction").alias("sender"),
        pl.col("congestion_marks").alias("marks"),
    )


def _held(trace: Trace) -> pl.LazyFrame:
    """For how long the way from each sender, and the way back, held a packet, at most."""
    if not trace.points:
        types = {"connection": pl.Int64, "sender": pl.String}
        return pl.LazyFrame(schema=types | dict.fromkeys(("there_s", "back_s"), pl.Float64))
    of_way = (
        trace.scan("legs")
        .group_by("connection", pl.col("direction").alias("sender"))
        .agg((pl.col("delay_max_s") - pl.col("delay_min_s")).max().alias("there_s"))
    )
    back = of_way.select(
        "connection",
        sides.other(pl.col("sender")).alias("sender"),
        pl.col("there_s").alias("back_s"),
    )
    return of_way.join(back, on=["connection", "sender"])


def owners(trace: Trace) -> tuple[Owned, ...] | None:
    """What was slow, most time first, and last what was between requests, where nobody waits, and
    what is not known, unless that is most. None where a trace does not say.
    """
    looked_up = _looked_up(trace)
    if not _stretches(trace).select(pl.len()).collect().item():
        return looked_up or None
    counted = pl.lit(trace.slow_s == SLOW_S)
    of_host = (
        joined(trace, slow(trace.slow_s))
        .group_by("owner", "host", "connection")
        .agg(
            pl.col("length_ns", "stretches").sum(),
            pl.when(counted).then(pl.col("slow").sum()).otherwise(0).alias("slow"),
            pl.when(counted).then(pl.col("slow_least_ns").min()).alias("slow_least_ns"),
            pl.col("longest_ns").max(),
            _of_longest(pl.col("evidence_ns", "peer"), "evidence_ns"),
            pl.col("duration_s", "number", "start_s", "handshake").first(),
            (pl.col("in_vain") & pl.col("was_reset")).any().alias("reset"),
            pl.col("alert", "answered_again", "half_scaled").first(),
            pl.col("needed", "not_known", "timeouts", "peers_needed", "marks").max(),
            pl.col("there_s", "back_s").max(),
        )
        .group_by("owner", "host")
        .agg(
            pl.col("length_ns", "duration_s", "stretches", "slow").sum(),
            pl.col("needed", "not_known", "timeouts", "peers_needed", "marks").sum(),
            pl.col("there_s", "back_s").max(),
            (pl.col("handshake") == "refused").sum().alias("refused"),
            (pl.col("handshake") == "unreachable").sum().alias("unreachable"),
            (pl.col("handshake") == "unanswered").sum().alias("unanswered"),
            pl.col("reset", "answered_again", "half_scaled").sum(),
            pl.col("alert").count().alias("alerted"),
            pl.col("alert").drop_nulls().mode().sort().first(),
            pl.col("slow_least_ns").min(),
            pl.col("longest_ns").max(),
            pl.len().alias("connections"),
            _of_longest(pl.col("peer", "number"), "number"),
            _of_longest(pl.col("evidence_ns") / 1e9 - pl.col("start_s"), "number").alias(
                "evidence_s"
            ),
        )
        .sort("length_ns", "host", descending=[True, False])
        .collect()
    )
    slowest = cache(partial(requests.slowest_of, trace))
    fronts = pl.col("host").is_in(_fronts(of_host, slowest)) & (pl.col("owner") == "server")
    of_host = of_host.filter(~fronts)
    owner, length_s = pl.col("owner"), pl.col("length_s")
    known_s = length_s.filter(~owner.is_in(list(LAST))).sum()
    last = owner.is_in(list(IDLE)) | ((owner == UNKNOWN) & (length_s <= known_s))
    rows = (
        of_host.group_by("owner", maintain_order=True)
        .agg(
            (pl.col("length_ns").sum() / 1e9).alias("length_s"),
            pl.col("duration_s").sum().alias("of_s"),
            pl.col("connections", "stretches", "slow").sum(),
            pl.col("needed", "not_known", "timeouts", "peers_needed", "marks").sum(),
            pl.col("there_s", "back_s").max(),
            pl.col("refused", "unreachable", "unanswered", "reset", "alerted").sum(),
            pl.col("answered_again", "half_scaled").sum(),
            pl.col("alert").drop_nulls().first().fill_null(""),
            (pl.col("slow_least_ns").min() / 1e9).alias("least_s"),
            (pl.col("longest_ns").max() / 1e9).alias("most_s"),
            pl.len().alias("hosts"),
            (pl.col("length_ns").first() / 1e9).alias("host_s"),
            pl.col("host", "peer", "number", "evidence_s").first(),
        )
        .with_columns(last.alias("last"))
    )
    every = []
    for row in rows.to_dicts():
        _, asked = slowest(row["host"]) if row["owner"] == "server" else (0.0, None)
        behind = asked.server if asked and asked.owner == "server" else ""
        every.append((row.pop("last"), Owned(**row, behind=behind)))
    every += [(False, one) for one in looked_up]
    every.sort(key=lambda one: (one[0], -one[1].length_s, one[1].owner))
    return tuple(one for _, one in every)


def _of_longest(value: pl.Expr, then: str) -> pl.Expr:
    """What the longest stretch has; of equally long ones the one of the least `then`."""
    return value.sort_by("longest_ns", then, descending=[True, False]).first()


def _fronts(
    of_host: pl.DataFrame, slowest: Callable[[str], tuple[float, requests.Asked | None]]
) -> list[str]:
    """Servers that waited for others behind them, whose own time is told, and for little else: of
    those that have a tenth of the time.
    """
    rows = of_host.filter(pl.col("owner") == "server").select("host", "length_ns")
    servers = dict(rows.iter_rows())
    least = PART * float(rows["length_ns"].sum())
    fronts = []
    for host, length_ns in rows.filter(pl.col("length_ns") >= least).iter_rows():
        waited_s, asked = slowest(host)
        if asked is None:
            continue
        front_s, behind_s = waited_s, asked.took_s
        if asked.owner == "server":
            front_s, behind_s = length_ns / 1e9, servers.get(asked.server, 0) / 1e9
        if front_s - behind_s < PART * front_s:
            fronts.append(host)
    return fronts


def _stretches(trace: Trace) -> pl.LazyFrame:
    """The table `account`, and what has no time in it."""
    return pl.concat([trace.scan("account"), _at_once(trace)], how="diagonal_relaxed")


def _at_once(trace: Trace) -> pl.LazyFrame:
    """Rows as of `account` for connections that were refused in no time, as beside the server."""
    at_once = _REFUSED & (pl.col("duration_s") <= 0)
    nothing = ("length_ns", "slow", "slow_ns", "longest_ns", "other_ns")
    return (
        trace.scan("connections")
        .filter(at_once)
        .select(
            "connection",
            pl.lit("forward").alias("direction"),
            pl.lit("connecting").alias("owner"),
            pl.lit(value=True).alias("asked"),
            *(pl.lit(0, pl.Int64).alias(name) for name in nothing),
            pl.lit(1, pl.Int64).alias("stretches"),
            (pl.col("start_s") * 1e9).cast(pl.Int64).alias("evidence_ns"),
        )
    )


def _looked_up(trace: Trace) -> tuple[Owned, ...]:
    """What is slow of looking up names, of which no connection knows: none, or one."""
    if not trace.facts.lookups:
        return ()
    begun_s = captured(trace).start_s or 0.0
    slowest = pl.col("waited_s").arg_max()
    # Where answers to SYNs do not come by, those of name servers do not either.
    seen = trace.scan("connections").select(HALF_SEEN.any()).collect()
    half_seen = pl.lit(bool(seen.item()))
    rows = (
        trace.scan(LOOKUPS)
        .filter(pl.col("waited_s") >= trace.slow_s, pl.col("answered") | ~half_seen)
        .group_by(pl.col("asker").alias("host"))
        .agg(
            pl.col("waited_s").sum().alias("length_s"),
            pl.len().alias("connections"),
            pl.col("waited_s").min().alias("least_s"),
            pl.col("waited_s").max().alias("most_s"),
            pl.col("server").get(slowest).alias("peer"),
            pl.col("name").get(slowest).fill_null(""),
            (pl.col("start_s") + pl.col("waited_s") - begun_s).get(slowest).alias("evidence_s"),
            (~pl.col("answered")).sum().alias("unanswered"),
        )
        .sort("length_s", "host", descending=[True, False])
        .collect()
    )
    if rows.is_empty():
        return ()
    first = rows.row(0, named=True)
    sums = (pl.col("length_s", "connections", "unanswered").sum(), pl.col("least_s").min())
    every = {
        **first,
        **rows.select(*sums, pl.col("most_s").max()).row(0, named=True),
    }
    return (
        Owned(
            owner=DNS,
            of_s=every["length_s"],
            stretches=every["connections"],
            slow=every["connections"],
            hosts=rows.height,
            host_s=first["length_s"],
            number=None,
            **every,
        ),
    )


def _address(end: pl.Expr) -> pl.Expr:
    return end.str.replace(r":\d+$", "")
