"""The study's connections: each with its sender, whether it lost anything, and whether the sender
is explained.

A connection has two senders; the study's is the one that retransmitted more (of equals, that sent
more bytes). A connection is *lossy* with at least one retransmission of that sender that was not
spurious, and
*explained* where every retransmission of it fits stacks of one system. The study's systems are the
paper's; several stacks of one system (Linux 3 and 6) are that system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SIDES
from rexmit.tracing import mechanisms, sides
from rexmit.tracing.folder import Trace
from rexmit_papers.unc_2007.systems import SYSTEMS, system_of

KEYS: Final = ("trace", "connection", "direction")
"""Of a sender."""


@dataclass(frozen=True)
class Totals:
    """All connections of a trace, for Table II. `bytes` is payload."""

    name: str
    connections: int
    bytes: int
    packets: int
    duration_s: float

    @property
    def load_bps(self) -> float | None:
        """The average TCP load."""
        return self.bytes * 8 / self.duration_s if self.duration_s else None


@dataclass(frozen=True)
class Study:
    """`senders` has a row for each connection of all traces: `trace` (the number of its trace),
    `connection`, `direction`, `system` (null: not explained), `lossy`, `retransmissions`, sizes,
    times, `sack`. `traces` and `totals` are in the same order.
    """

    traces: tuple[Trace, ...]
    totals: tuple[Totals, ...]
    senders: pl.DataFrame

    @property
    def explained(self) -> pl.DataFrame:
        """The lossy explained connections: what the paper studies."""
        return self.senders.filter("lossy", pl.col("system").is_not_null())

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems with lossy explained connections."""
        there = set(self.explained["system"].unique())
        return tuple(system for system in SYSTEMS if system in there)

    def detections(self, *columns: str) -> pl.DataFrame:
        """As `retransmissions`, with `detected_rtts`: the time from the original transmission of a
        segment, if that was seen, to its retransmission (section IV-B), in units of the moving
        average of the RTT.
        """
        rows = self.retransmissions(*columns, "time_s", "first_sent_s", "moving_rtt_s")
        took_s = pl.col("time_s") - pl.col("first_sent_s")
        return rows.with_columns((took_s / pl.col("moving_rtt_s")).alias("detected_rtts"))

    def retransmissions(self, *columns: str) -> pl.DataFrame:
        """The retransmissions of the lossy explained connections' senders, with `system` and
        `sack`.
        """
        return self._rows_of("retransmissions", self.explained, columns)

    def retransmissions_of(self, senders: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """The retransmissions of these senders."""
        return self._rows_of("retransmissions", senders, columns)

    def replayed(self, setting: str) -> bool:
        """Whether every trace was replayed under the setting."""
        return all(setting in trace.settings for trace in self.traces)

    def whatif(self, setting: str, *columns: str) -> pl.DataFrame:
        """What a setting would have changed for the lossy explained connections' senders; those
        for which it would have changed nothing have no row.
        """
        return self._rows_of("whatif", self.explained, columns, pl.col("setting") == setting)

    def parameters(self) -> pl.DataFrame:
        """What was inferred of the lossy explained connections' senders: `parameter`, `value`, and
        between what it lies.
        """
        return self._rows_of("parameters", self.explained, ("parameter", "value", "low", "high"))

    def _rows_of(
        self,
        table: str,
        senders: pl.DataFrame,
        columns: Sequence[str],
        wanted: pl.Expr | None = None,
    ) -> pl.DataFrame:
        known = senders.select(*KEYS, "system", "sack").lazy()
        parts = []
        for number, trace in enumerate(self.traces):
            rows = trace.scan(table)
            if wanted is not None:
                rows = rows.filter(wanted)
            rows = rows.select("connection", "direction", *columns)
            parts.append(rows.with_columns(pl.lit(number, dtype=pl.Int64).alias("trace")))
        return pl.concat(parts).join(known, on=KEYS).collect()


def study(traces: Sequence[Trace]) -> Study:
    """Reads the connections of every trace."""
    frames = [_senders(trace, number) for number, trace in enumerate(traces)]
    return Study(
        tuple(traces),
        tuple(_totals(trace, name) for trace, name in zip(traces, names(traces), strict=True)),
        _with_systems(pl.concat(frames)),
    )


def _totals(trace: Trace, name: str) -> Totals:
    row = (
        sides.beside(trace.scan("connections"), trace, "bytes", "packets")
        .select(
            pl.len().alias("connections"),
            sides.both("bytes").sum().alias("bytes"),
            sides.both("packets").sum().alias("packets"),
            (pl.col("end_s").max() - pl.col("start_s").min()).fill_null(0.0).alias("duration_s"),
        )
        .collect()
        .row(0, named=True)
    )
    return Totals(name, **row)


def names(traces: Sequence[Trace]) -> list[str]:
    """What traces are called in tables: as their first captures, with the folders around these
    where that is not enough to tell them apart.
    """
    files = [Path(trace.captures[0]) if trace.captures else trace.path for trace in traces]
    stems = [file.name.partition(".")[0] or str(file) for file in files]
    short = list(stems)
    for i, (file, stem) in enumerate(zip(files, stems, strict=True)):
        if stems.count(stem) > 1:
            around = [part.name for part in file.parents if part.name not in ("", "captures")]
            short[i] = "/".join([*around[:1], stem])
    return [
        name if short.count(name) == 1 else f"{name} {short[: i + 1].count(name)}"
        for i, name in enumerate(short)
    ]


def _senders(trace: Trace, number: int) -> pl.DataFrame:
    sums = {
        f"{side}_{what}": mechanisms.total(what, side=side)
        for side in SIDES
        for what in mechanisms.NEEDS
    }
    forward, backward = (
        pl.sum_horizontal(f"{side}_{what}" for what in mechanisms.NEEDS) for side in SIDES
    )
    more_bytes = pl.col("forward_unique_bytes") > pl.col("backward_unique_bytes")
    mine = pl.when((forward > backward) | ((forward == backward) & more_bytes))

    def of_sender(column: str) -> pl.Expr:
        either = (pl.col(f"{side}_{column}") for side in SIDES)
        return mine.then(next(either)).otherwise(next(either)).alias(column)

    columns = ("unique_bytes", "rtt_avg_s", "best_case_s", "stack", "stacks", "syn_system")
    return (
        mechanisms.beside(
            sides.beside(
                trace.scan("connections"), trace, "bytes", "packets", "sack_permitted", *columns
            ),
            trace,
            **sums,
        )
        .select(
            pl.lit(number, dtype=pl.Int64).alias("trace"),
            "connection",
            mine.then(pl.lit("forward")).otherwise(pl.lit("backward")).alias("direction"),
            "duration_s",
            sides.both("bytes").alias("bytes"),
            sides.both("packets").alias("packets"),
            *map(of_sender, (*columns, *mechanisms.NEEDS)),
            (pl.col("forward_sack_permitted") & pl.col("backward_sack_permitted")).alias("sack"),
        )
        .with_columns(
            (pl.col("needed") + pl.col("unknown") > 0).alias("lossy"),
            pl.sum_horizontal(*mechanisms.NEEDS).alias("retransmissions"),
        )
        .collect()
    )


def _with_systems(senders: pl.DataFrame) -> pl.DataFrame:
    pairs = senders.select("stack", "stacks").unique()
    systems = [system_of(stack, stacks) for stack, stacks in pairs.rows()]
    named = pairs.with_columns(pl.Series("system", systems, dtype=pl.String))
    return senders.join(named, on=["stack", "stacks"], how="left", nulls_equal=True)
