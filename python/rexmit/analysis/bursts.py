"""One summary per network, configuration and loss: completion of the last burst over its start
phases, and of all bursts where there are many, and what repaired it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from rexmit.analysis.units import Units, units_of
from rexmit.errors import UserError
from rexmit.statistics.spread import Spread, spread
from rexmit.store.open_run import Run


@dataclass(frozen=True)
class Retransmission:
    """The first retransmission of what was dropped: its mechanism, and the path it took (from 1;
    None where it stayed on the only one).
    """

    mechanism: str
    path: int | None

    @property
    def words(self) -> str:
        """`mptcp-reinject on path 2`."""
        return self.mechanism if self.path is None else f"{self.mechanism} on path {self.path}"


#: Of so many bursts of a connection the last is one among others.
MANY = 3


@dataclass(frozen=True)
class Case:
    """`completion`, `recover` are over the connections used; None where nothing says."""

    network: str
    config: str
    loss: str  #: the pattern, and what else of loss or congestion control the run varies
    connections: int
    incomplete: int  #: left out: the client did not get all
    inexact: int  #: left out: other packets were lost than the pattern names
    completion: Spread  #: of the last burst, seconds
    least_s: float | None
    most_s: float | None
    every: Spread | None  #: of all bursts of the connections used, where a connection has many
    recover: Spread  #: first drop to first retransmission, seconds
    first_retransmission: tuple[tuple[Retransmission, int], ...]  #: most first
    reinjected: float  #: packets re-injected after the first drop, a connection
    reinjected_spuriously: float  #: of them, those whose data had arrived
    mptcp_retransmissions: float | None
    probe_reinjections: float | None


@dataclass(frozen=True)
class Cases:
    """All of a run, in the order of its grid. Delays are one way, ms, in the order of paths."""

    networks: tuple[str, ...]
    configs: tuple[str, ...]
    losses: tuple[str, ...]
    delays_ms: Mapping[str, tuple[float, ...]]
    cases: Mapping[tuple[str, str, str], Case]

    def case(self, network: str, config: str, loss: str) -> Case | None:
        """One case; None where the run has no such."""
        return self.cases.get((network, config, loss))


def has_bursts(run: Run) -> bool:
    """Whether the run's transfers are connections with bursts."""
    workload = run.scenario.get("workload")
    return isinstance(workload, dict) and workload.get("server") == "burst"


def cases(run: Run, *, keep_inexact: bool = False) -> Cases:
    """Raises UserError where the run has none."""
    frame = _with_loss(run.transfers)
    if not has_bursts(run):
        raise UserError(f"{run.path}: the run has no bursts", "run one: rexmit run mptcp-smoke")
    first = _first_retransmissions(run)
    again = _reinjected(run)
    by_key = {}
    units = units_of(run)
    keys = ["network", "config", "loss"]
    for part in frame.partition_by(keys, maintain_order=True):
        network, config, loss = (part[key][0] for key in keys)
        by_key[network, config, loss] = _case(
            run, part, first, again, units, keep_inexact=keep_inexact
        )
    unique = {key: tuple(frame[key].unique(maintain_order=True)) for key in keys}
    return Cases(
        networks=unique["network"],
        configs=unique["config"],
        losses=unique["loss"],
        delays_ms={name: _delays(run, name) for name in unique["network"]},
        cases=by_key,
    )


def _each(run: Run) -> int:
    return int(run.scenario["workload"].get("bursts", 1))


def _with_loss(frame: pl.DataFrame) -> pl.DataFrame:
    """The column `loss`: the pattern in words, with random loss and the congestion control where
    the run varies them.
    """
    parts = [pl.col("loss_pattern").fill_null("none")]
    if frame["line_loss"].n_unique() > 1:
        percent = (pl.col("line_loss") * 100).round(6).cast(pl.String).str.strip_suffix(".0")
        parts.append(pl.format("{}% random loss", percent))
    if frame["congestion_control"].n_unique() > 1:
        parts.append(pl.col("congestion_control"))
    return frame.with_columns(pl.concat_str(parts, separator=", ").alias("loss"))


def bursts_of(run: Run, counted: pl.DataFrame, never: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The bursts of these connections with their `completion_s`, those included that connections
    which did not end (`never`) delivered; and how many these did not, which never ended.
    """
    keys = ["cell", "repetition"]
    both = pl.concat([counted.select(keys), never.select(keys)])
    mine = run.bursts().join(both, on=keys, maintain_order="left").drop_nulls("completion_s")
    return mine, both.height * _each(run) - mine.height


def _every(run: Run, used: pl.DataFrame, never: pl.DataFrame, units: Units) -> Spread | None:
    """Bursts of one connection are no cases of their own: they share its phases and its windows."""
    if _each(run) < MANY:
        return None
    mine, endless = bursts_of(run, used, never)
    if mine.is_empty():
        return None
    source = units.source(mine["network"][0])
    return spread(mine["completion_s"], units.column(mine), source, endless)


def _case(
    run: Run,
    part: pl.DataFrame,
    first: Mapping[tuple[int, int], Retransmission],
    again: pl.DataFrame,
    units: Units,
    *,
    keep_inexact: bool,
) -> Case:
    complete = part.filter(pl.col("complete"))
    used = complete if keep_inexact else complete.filter(pl.col("exact"))
    times = used["t_total_s"].drop_nulls()
    unit, source = units.column(used), units.source(part["network"][0])
    given_up = part.filter(~pl.col("complete").fill_null(False))
    repaired = Counter(
        first[key] for key in used.select("cell", "repetition").iter_rows() if key in first
    )
    mine = again.join(used.select("cell", "repetition"), on=["cell", "repetition"])
    return Case(
        network=part["network"][0],
        config=part["config"][0],
        loss=part["loss"][0],
        connections=part.height,
        incomplete=part.height - complete.height,
        inexact=complete.height - used.height,
        completion=spread(used["t_total_s"], unit, source, given_up.height),
        least_s=_number(times.min()),
        most_s=_number(times.max()),
        every=_every(run, used, given_up, units),
        recover=spread(used["t_recover_s"], unit, source),
        first_retransmission=tuple(repaired.most_common()),
        reinjected=mine.height / max(used.height, 1),
        reinjected_spuriously=mine.filter(pl.col("need") == "spurious").height
        / max(used.height, 1),
        mptcp_retransmissions=_number(used["mptcp_retransmissions"].mean()),
        probe_reinjections=_number(used["probe_reinjections"].mean()),
    )


def _first_retransmissions(run: Run) -> dict[tuple[int, int], Retransmission]:
    """By cell and repetition, the first retransmission at or after the first drop."""
    rows = run.retransmissions().join(
        run.transfers.select("cell", "repetition", "t_retransmit_s"), on=["cell", "repetition"]
    )
    rows = rows.filter(pl.col("time_s") == pl.col("t_retransmit_s"))
    rows = rows.unique(["cell", "repetition"], keep="first", maintain_order=True)
    return {
        (row["cell"], row["repetition"]): Retransmission(row["mechanism"] or "unknown", row["path"])
        for row in rows.iter_rows(named=True)
    }


def _reinjected(run: Run) -> pl.DataFrame:
    """Every re-injection after the first drop of its connection."""
    drops = run.transfers.select("cell", "repetition", "t_drop_s")
    rows = run.retransmissions().filter(pl.col("mechanism") == "mptcp-reinject")
    return rows.join(drops, on=["cell", "repetition"]).filter(
        pl.col("time_s") >= pl.col("t_drop_s")
    )


def _delays(run: Run, network: str) -> tuple[float, ...]:
    from rexmit.scenario.units import DURATION

    paths: list[dict[str, Any]] = run.scenario["networks"][network].get("paths") or []
    own = run.scenario["networks"][network].get("delay")
    return tuple(DURATION.parse(str(path.get("delay", own))) / 1e6 for path in paths)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
