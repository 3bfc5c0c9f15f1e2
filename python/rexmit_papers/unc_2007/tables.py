"""Tables I to V of UNC 2007, the recovery times of its section V.A.2 and its false alarms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from rexmit.tracing.systems import system
from rexmit_papers.unc_2007.parameters import Inferred, parameters
from rexmit_papers.unc_2007.senders import KEYS, Study, Totals
from rexmit_papers.unc_2007.systems import FR, RTO, SYSTEMS

_SPURIOUS: Final = pl.col("need") == "spurious"
_RTO: Final = pl.col("mechanism").is_in(RTO)
_FR: Final = pl.col("mechanism").is_in(FR)


@dataclass(frozen=True)
class Lossy:
    """A row of Table III: shares of the trace's connections, bytes and packets, 0 to 1, and of its
    lossy explained connections by system.
    """

    name: str
    lossy: tuple[float, float, float]
    explained: tuple[float, float, float]
    systems: dict[str, float]


@dataclass(frozen=True)
class Classes:
    """A row of Table IV: retransmissions of a system's lossy explained connections. `unknown_need`
    of them count as not spurious; `other` are neither RTO nor FR/R.
    """

    system: str
    total: int
    needed_rto: int
    needed_fr: int
    spurious_rto: int
    spurious_fr: int
    other: int
    unknown_need: int

    @property
    def rto(self) -> int:
        """All that count as RTO."""
        return self.needed_rto + self.spurious_rto

    @property
    def fr(self) -> int:
        """All that count as FR/R."""
        return self.needed_fr + self.spurious_fr


@dataclass(frozen=True)
class Threshold:
    """A row of Table V: what D = 2 (for Windows, whose own it is, 3) and D = 4 would have changed.
    None where the trace has no such replay.
    """

    system: str
    fr: int
    rto: int
    total: int
    first_d: int
    rto_to_fr: int | None
    spurious_caused: int | None
    fr_to_rto: int | None
    spurious_avoided: int | None


@dataclass(frozen=True)
class Recovery:
    """Episodes of one kind of connection that lost so many segments of a flight (`lost` 5: five or
    more). Times in seconds and in units of the moving average of the round-trip time.
    """

    sack: bool
    lost: int
    episodes: int
    median_s: float
    median_rtts: float | None
    p95_rtts: float | None


@dataclass(frozen=True)
class FalseAlarms:
    """Connections without loss and the spurious retransmissions in them; a system for what is
    explained, `-` for the rest.
    """

    system: str
    connections: int
    with_retransmissions: int
    spurious_rto: int
    spurious_fr: int


@dataclass(frozen=True)
class Agreement:
    """Of the lossy explained senders those whose SYN names a system, and of these those whose
    retransmissions are explained by the same. A SYN refutes the stacks of other systems, so that
    this tells of contradictions, not of how well retransmissions alone identify a sender.
    """

    named: int
    agree: int


@dataclass(frozen=True)
class Tables:
    """All of them."""

    parameters: tuple[Inferred, ...]
    agreement: Agreement
    totals: tuple[Totals, ...]
    lossy: tuple[Lossy, ...]
    classes: tuple[Classes, ...]
    thresholds: tuple[Threshold, ...]
    recovery: tuple[Recovery, ...]
    false_alarms: tuple[FalseAlarms, ...]
    systems: tuple[str, ...] = field(default=SYSTEMS)


MOST_LOST: Final = 5
"""Episodes that lost as many segments or more stand together."""


def tables(study: Study) -> Tables:
    """Counts everything."""
    classes = _classes(study)
    return Tables(
        parameters=parameters(study),
        agreement=_agreement(study),
        totals=study.totals,
        lossy=_lossy(study),
        classes=classes,
        thresholds=_thresholds(study, classes),
        recovery=_recovery(study),
        false_alarms=_false_alarms(study),
        systems=study.systems or SYSTEMS[:4],
    )


def _agreement(study: Study) -> Agreement:
    rows = study.explained.filter(pl.col("syn_system").is_not_null())
    pairs = rows.select("syn_system", "system").rows()
    return Agreement(len(pairs), sum(system(syn) == named for syn, named in pairs))


def _lossy(study: Study) -> tuple[Lossy, ...]:
    lossy = []
    for number, totals in enumerate(study.totals):
        here = study.senders.filter(pl.col("trace") == number, "lossy")
        explained = here.filter(pl.col("system").is_not_null())

        def shares(rows: pl.DataFrame, of: Totals = totals) -> tuple[float, float, float]:
            return (
                rows.height / of.connections if of.connections else 0.0,
                float(rows["bytes"].sum()) / of.bytes if of.bytes else 0.0,
                float(rows["packets"].sum()) / of.packets if of.packets else 0.0,
            )

        by_system = dict(explained.group_by("system").len().iter_rows())
        lossy.append(
            Lossy(
                totals.name,
                shares(here),
                shares(explained),
                {
                    system: by_system.get(system, 0) / explained.height if explained.height else 0.0
                    for system in study.systems
                },
            )
        )
    return tuple(lossy)


def by_connection(study: Study) -> pl.DataFrame:
    """The retransmissions of each of the lossy explained connections, by class."""
    return (
        study.retransmissions("mechanism", "need")
        .group_by("system", *KEYS)
        .agg(
            pl.len().alias("total"),
            (_RTO & ~_SPURIOUS).sum().alias("needed_rto"),
            (_FR & ~_SPURIOUS).sum().alias("needed_fr"),
            (_RTO & _SPURIOUS).sum().alias("spurious_rto"),
            (_FR & _SPURIOUS).sum().alias("spurious_fr"),
            (~_RTO & ~_FR).sum().alias("other"),
            (pl.col("need") == "unknown").sum().alias("unknown_need"),
        )
        .sort("system", *KEYS)
    )


def _classes(study: Study) -> tuple[Classes, ...]:
    sums = by_connection(study).drop(KEYS).group_by("system").sum()
    of = {row["system"]: Classes(**row) for row in sums.rows(named=True)}
    return tuple(of[system] for system in study.systems if system in of)


def threshold(system: str) -> int:
    """The duplicate ACKs that a system waits for of its own (UNC 2007, Table I)."""
    return 2 if system == "Windows" else 3


def _thresholds(study: Study, classes: tuple[Classes, ...]) -> tuple[Threshold, ...]:
    net = {
        "rto_to_fr": pl.col("rto_to_fr") - pl.col("fr_to_rto"),
        "caused": pl.col("spurious_fr_caused") - pl.col("spurious_fr_avoided"),
    }
    columns = ("rto_to_fr", "fr_to_rto", "spurious_fr_caused", "spurious_fr_avoided")

    def replay(d: int) -> dict[str, dict[str, int]] | None:
        """By system; None where the traces have no such replay."""
        setting = f"d={d}"
        if not study.replayed(setting):
            return None
        rows = study.whatif(setting, *columns)
        sums = rows.group_by("system").agg(
            expression.sum().alias(name) for name, expression in net.items()
        )
        return {row["system"]: row for row in sums.iter_rows(named=True)}

    by_d = {d: replay(d) for d in (2, 3, 4)}
    thresholds = []
    for row in classes:
        first = 5 - threshold(row.system)
        lower, higher = (_counts_of(by_d[d], row.system) for d in (first, 4))
        thresholds.append(
            Threshold(
                system=row.system,
                fr=row.fr,
                rto=row.rto,
                total=row.total,
                first_d=first,
                rto_to_fr=lower["rto_to_fr"] if lower else None,
                spurious_caused=lower["caused"] if lower else None,
                fr_to_rto=-higher["rto_to_fr"] if higher else None,
                spurious_avoided=-higher["caused"] if higher else None,
            )
        )
    return tuple(thresholds)


def _counts_of(replayed: dict[str, dict[str, int]] | None, system: str) -> dict[str, int] | None:
    return None if replayed is None else replayed.get(system, {"rto_to_fr": 0, "caused": 0})


def _recovery(study: Study) -> tuple[Recovery, ...]:
    rows = (
        study.retransmissions("episode", "time_ns", "recovery_s", "moving_rtt_s", "lost_in_flight")
        .sort("time_ns", maintain_order=True)
        .group_by("trace", "connection", "direction", "episode", maintain_order=True)
        .first()
        .filter(pl.col("recovery_s").is_not_null(), pl.col("lost_in_flight") > 0)
        .with_columns(
            pl.col("lost_in_flight").clip(upper_bound=MOST_LOST).alias("lost"),
            (pl.col("recovery_s") / pl.col("moving_rtt_s")).alias("rtts"),
        )
        .group_by("sack", "lost")
        .agg(
            pl.len().alias("episodes"),
            pl.col("recovery_s").median().alias("median_s"),
            pl.col("rtts").median().alias("median_rtts"),
            pl.col("rtts").quantile(0.95).alias("p95_rtts"),
        )
        .sort("lost", "sack")
        .rows(named=True)
    )
    return tuple(Recovery(**row) for row in rows)


def _false_alarms(study: Study) -> tuple[FalseAlarms, ...]:
    without = study.senders.filter(~pl.col("lossy")).with_columns(pl.col("system").fill_null("-"))
    retransmissions = (
        study.retransmissions_of(without, "mechanism", "need")
        .group_by("system")
        .agg(
            (_RTO & _SPURIOUS).sum().alias("spurious_rto"),
            (_FR & _SPURIOUS).sum().alias("spurious_fr"),
        )
    )
    rows = (
        without.group_by("system")
        .agg(
            pl.len().alias("connections"),
            (pl.col("retransmissions") > 0).sum().alias("with_retransmissions"),
        )
        .join(retransmissions, on="system", how="left")
        .with_columns(pl.col("spurious_rto", "spurious_fr").fill_null(0))
        .rows(named=True)
    )
    alarms = [FalseAlarms(**row) for row in rows]
    order = (*SYSTEMS, "-")
    return tuple(
        sorted(alarms, key=lambda one: order.index(one.system) if one.system in order else 9)
    )
