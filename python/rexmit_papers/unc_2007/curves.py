"""Distributions and logarithmic bins: the points of the figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SMART_CONFIG
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.systems import FR, RTO

SMALL_BYTES: Final = 15_000
"""Connections that transmit so much or less are small (UNC 2007, section V.C)."""

_POINTS: Final = 400


@dataclass(frozen=True)
class Curve:
    """A distribution: the share of all `n` values that are at most x, 0 to 1."""

    label: str
    n: int
    points: tuple[tuple[float, float], ...]

    def at(self, x: float) -> float:
        """The share of values that are at most x, as far as the points tell."""
        return max((share for value, share in self.points if value <= x), default=0.0)


@dataclass(frozen=True)
class Bin:
    """Connections whose Best-Case reduction lies within a factor of two: its mean, and mean and
    95th percentile of their actual reduction; all in units of the connection's average RTT.
    """

    best_case: float
    mean: float
    p95: float
    n: int


@dataclass(frozen=True)
class Bins:
    """The bins of a setting. `left_out` connections have no Best-Case reduction, or no RTT."""

    label: str
    bins: tuple[Bin, ...]
    left_out: int


def curve(label: str, values: pl.Series) -> Curve:
    """Every value is a point, or of many so many in steps of equal shares."""
    there = values.drop_nulls().drop_nans().sort()
    n = there.len()
    if n <= _POINTS:
        points = tuple((float(x), (i + 1) / n) for i, x in enumerate(there))
    else:
        places = [round(i * (n - 1) / (_POINTS - 1)) for i in range(_POINTS)]
        points = tuple((float(there[place]), (place + 1) / n) for place in places)
    return Curve(label, n, points)


def bytes_sent(study: Study) -> list[Curve]:
    """Figure 1: bytes transmitted in each connection, by trace."""
    curves = []
    for totals, trace in zip(study.totals, study.traces, strict=True):
        sizes = trace.scan("sides").group_by("connection").agg(pl.col("bytes").sum())
        curves.append(curve(totals.name, sizes.collect()["bytes"]))
    return curves


def detection(study: Study) -> list[Curve]:
    """Figure 2: detection time in units of the moving average of the RTT."""
    rows = study.detections("mechanism")
    curves = []
    for system in study.systems:
        of = rows.filter(pl.col("system") == system)
        for word, mechanisms in (("FR/R", FR), ("RTO", RTO)):
            times = of.filter(pl.col("mechanism").is_in(mechanisms))["detected_rtts"]
            curves.append(curve(f"{system} {word}", times))
    return [one for one in curves if one.n]


def best_case(study: Study) -> list[Curve]:
    """Figure 3: the Best-Case reduction in percent of the connection's duration."""
    rows = study.explained.filter(pl.col("duration_s") > 0).select(
        "system", (100 * pl.col("best_case_s") / pl.col("duration_s")).alias("percent")
    )
    return _by_system(study, rows)


def _by_system(study: Study, rows: pl.DataFrame) -> list[Curve]:
    curves = [
        curve(system, rows.filter(pl.col("system") == system)["percent"])
        for system in study.systems
    ]
    return [one for one in curves if one.n]


def changes(study: Study, setting: str) -> pl.DataFrame | None:
    """The lossy explained senders with `change_s` under a setting, 0 where nothing changes; None
    where connections were not replayed under it.
    """
    if not study.replayed(setting):
        return None
    rows = study.whatif(setting, "change_s").drop("system", "sack")
    keys = ["trace", "connection", "direction"]
    return study.explained.join(rows, on=keys, how="left").with_columns(
        pl.col("change_s").fill_null(0.0)
    )


def bins(label: str, senders: pl.DataFrame) -> Bins:
    """Reduction against Best-Case reduction, in bins of a factor of two."""
    there = senders.filter(pl.col("best_case_s") > 0, pl.col("rtt_avg_s") > 0).select(
        (pl.col("best_case_s") / pl.col("rtt_avg_s")).alias("best"),
        (-pl.col("change_s") / pl.col("rtt_avg_s")).alias("reduction"),
    )
    rows = (
        there.group_by(pl.col("best").log(2).floor().alias("bin"))
        .agg(
            pl.col("best").mean(),
            pl.col("reduction").mean().alias("mean"),
            pl.col("reduction").quantile(0.95, "linear").alias("p95"),
            pl.len().alias("n"),
        )
        .sort("bin")
    )
    filled = tuple(
        Bin(best, mean, p95, n)
        for best, mean, p95, n in rows.select("best", "mean", "p95", "n").iter_rows()
        if math.isfinite(mean)
    )
    return Bins(label, filled, senders.height - there.height)


def of_setting(study: Study, system: str, setting: str) -> Bins | None:
    """The bins of one system's connections under a setting."""
    changed = changes(study, setting)
    return None if changed is None else bins(setting, changed.filter(pl.col("system") == system))


def of_sizes(study: Study, system: str, d: int) -> list[Bins]:
    """Figure 5 (c): another threshold, small and large connections apart."""
    changed = changes(study, f"d={d}")
    if changed is None:
        return []
    mine = changed.filter(pl.col("system") == system)
    small = pl.col("unique_bytes") <= SMALL_BYTES
    return [
        bins(f"d={d}, up to 15 kB", mine.filter(small)),
        bins(f"d={d}, larger", mine.filter(~small)),
    ]


def smart_change(study: Study) -> list[Curve]:
    """Figure 6: the change of durations with the Smart-Config, percent; negative is shorter."""
    changed = changes(study, SMART_CONFIG)
    if changed is None:
        return []
    rows = changed.filter(pl.col("duration_s") > 0).select(
        "system", (100 * pl.col("change_s") / pl.col("duration_s")).alias("percent")
    )
    return _by_system(study, rows)
