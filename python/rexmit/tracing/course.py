"""The course of a trace: rate, losses, round trips, answers and whose the time was, over its time.

Tables have sums of whole connections, and some instants. What has an instant stands there:
retransmissions, handshakes, requests with their answers, the longest stretch of each owner. The
rest of a sum is spread over its connection's time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.tracing import owners, requests, sides
from rexmit.tracing.folder import Trace

STEPS: Final = 240

_NOT_WAITED: Final = (*owners.NOBODY, *owners.IDLE)

_LEAST_S: Final = 1e-9
"""So long a connection of one instant is taken to be."""


@dataclass(frozen=True)
class Course:
    """`steps` has a row for each step of `width_s` from `start_s` on. Columns: `bytes` of payload;
    `needed`, `spurious`, `unknown` retransmissions; the median and the largest round trip
    (`rtt_s`, `rtt_most_s`) and time to an answer's first byte (`first_s`, `first_most_s`), null
    where none began; of each of the `owners` the connections that waited for it, on average.
    """

    start_s: float
    width_s: float
    steps: pl.DataFrame
    owners: tuple[str, ...]


def course(trace: Trace, steps: int = STEPS) -> Course | None:
    """None for a trace without connections."""
    connections = _connections(trace)
    start_s, end_s = connections["start_s"].min(), connections["end_s"].max()
    if not isinstance(start_s, float) or not isinstance(end_s, float):
        return None
    width_s = max((end_s - start_s) / steps, 1e-6)
    edges = [start_s + place * width_s for place in range(steps + 1)]
    rows = pl.DataFrame({"step": range(steps)}, schema={"step": pl.Int64})

    def step(at_s: pl.Expr) -> pl.Expr:
        place = ((at_s - start_s) / width_s).floor()
        return place.clip(0, steps - 1).cast(pl.Int64).alias("step")

    of_time = _of_time(trace, connections)
    known = of_time.group_by("owner").agg(pl.col("value").sum().round(9))
    named = tuple(known.sort("value", "owner", descending=[True, False])["owner"].to_list())
    spread = {"bytes": _spread(_payload(trace, connections), edges)}
    spread |= {
        f"owner_{name}": _spread(of_time.filter(pl.col("owner") == name), edges) / width_s
        for name in named
    }
    rows = rows.with_columns(series.alias(name) for name, series in spread.items())
    for times in (
        _retransmissions(trace, step),
        _median(_trips(trace), "rtt", step),
        _median(requests.timed(trace).select(_AT, "first_s"), "first", step),
    ):
        rows = rows.join(times, on="step", how="left", maintain_order="left")
    counts = pl.col("needed", "spurious", "unknown").fill_null(0)
    return Course(start_s, width_s, rows.drop("step").with_columns(counts), named)


_AT: Final = (pl.col("start_ns") / 1e9).alias("at_s")


def _connections(trace: Trace) -> pl.DataFrame:
    both = sides.beside(trace.scan("connections"), trace, "bytes")
    return both.select(
        "connection",
        "start_s",
        pl.max_horizontal("end_s", pl.col("start_s") + _LEAST_S).alias("end_s"),
        sides.both("bytes").alias("bytes"),
    ).collect()


def _payload(trace: Trace, connections: pl.DataFrame) -> pl.DataFrame:
    """`value` bytes between `from_s` and `to_s`: requests, answers, and what is left of both."""
    rows = trace.scan("requests").collect()
    columns = (("start_ns", "asked_ns", "sent_bytes"), ("first_ns", "last_ns", "received_bytes"))
    parts = [
        rows.drop_nulls([begin, end]).select(
            "connection",
            (pl.col(begin) / 1e9).alias("from_s"),
            (pl.col(end) / 1e9).alias("to_s"),
            pl.col(size).cast(pl.Float64).alias("value"),
        )
        for begin, end, size in columns
    ]
    payload = pl.concat(parts)
    sums = payload.group_by("connection").agg(pl.col("value").sum())
    rest = connections.join(sums, on="connection", how="left").select(
        "connection",
        pl.col("start_s").alias("from_s"),
        pl.col("end_s").alias("to_s"),
        (pl.col("bytes") - pl.col("value").fill_null(0)).clip(0).cast(pl.Float64).alias("value"),
    )
    return pl.concat([payload, rest])


def _of_time(trace: Trace, connections: pl.DataFrame) -> pl.DataFrame:
    """`value` seconds of an `owner` between `from_s` and `to_s`."""
    waited = pl.col("asked") & ~pl.col("owner").is_in(list(_NOT_WAITED))
    rows = (
        owners.joined(trace, waited)
        .select("connection", "owner", "length_ns", "longest_ns", "evidence_ns")
        .collect()
        .join(connections, on="connection")
    )
    longest = rows.select(
        "owner",
        ((pl.col("evidence_ns") - pl.col("longest_ns")) / 1e9).alias("from_s"),
        (pl.col("evidence_ns") / 1e9).alias("to_s"),
        (pl.col("longest_ns") / 1e9).alias("value"),
    )
    rest = rows.select(
        "owner",
        pl.col("start_s").alias("from_s"),
        pl.col("end_s").alias("to_s"),
        ((pl.col("length_ns") - pl.col("longest_ns")) / 1e9).alias("value"),
    )
    return pl.concat([longest, rest]).filter(pl.col("value") > 0)


def _spread(rows: pl.DataFrame, edges: list[float]) -> pl.Series:
    """What of `value` is between each two edges, each evenly between its `from_s` and `to_s`."""
    begin, value = pl.col("from_s"), pl.col("value")
    length = pl.max_horizontal(pl.col("to_s") - begin, pl.lit(_LEAST_S))
    before = [
        (value * ((edge - begin) / length).clip(0, 1)).sum().alias(str(place))
        for place, edge in enumerate(edges)
    ]
    # The last digits of a sum depend on the order of its parts.
    ordered = rows.sort("from_s", "to_s", "value")
    sums = pl.Series(ordered.select(before).row(0), dtype=pl.Float64)
    # What is at the last instant lies behind it by less than a step of the clock.
    sums[-1] = ordered["value"].sum()
    return sums.diff().slice(1).clip(0)


def _retransmissions(trace: Trace, step: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    need = pl.col("need")
    rows = trace.scan("retransmissions").group_by(step(pl.col("time_s")))
    return rows.agg(
        *((need == word).sum().alias(word) for word in ("needed", "spurious", "unknown"))
    ).collect()


def _trips(trace: Trace) -> pl.LazyFrame:
    """Round trips that have an instant: of handshakes, and of senders as they retransmitted."""
    shaken = trace.scan("connections").select(
        pl.col("start_s").alias("at_s"), pl.col("handshake_rtt_s").alias("rtt_s")
    )
    again = trace.scan("retransmissions").select(
        pl.col("time_s").alias("at_s"), pl.col("moving_rtt_s").alias("rtt_s")
    )
    return pl.concat([shaken, again])


def _median(rows: pl.LazyFrame, name: str, step: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    """The median and the largest of a column's values in each step."""
    value = pl.col(f"{name}_s")
    return (
        rows.drop_nulls()
        .group_by(step(pl.col("at_s")))
        .agg(value.median(), value.max().alias(f"{name}_most_s"))
        .collect()
    )
