"""What claims of UNC 2007 ask of a study: means and shares with their intervals.

What was drawn is a connection: retransmissions of one hang together, and a connection under two
settings is the same one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from rexmit.statistics.estimate import Estimate, mean
from rexmit.statistics.interval import Interval, of_ratio, of_share
from rexmit.statistics.spread import Spread, spread
from rexmit.statistics.verdict import Band
from rexmit_papers.claim import Form, Part
from rexmit_papers.unc_2007 import curves
from rexmit_papers.unc_2007.paper import SMART_10_PERCENT
from rexmit_papers.unc_2007.senders import KEYS, Study
from rexmit_papers.unc_2007.systems import FR, RTO
from rexmit_papers.unc_2007.tables import Tables, by_connection

Measured = tuple[float, Interval | None]
"""A value and its interval."""


@dataclass(frozen=True)
class Evidence:
    """The study, and what claims ask of it."""

    study: Study
    tables: Tables
    _frames: dict[str, pl.DataFrame | None] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Of the paper's those that there are."""
        return tuple(one for one in self.study.systems if one in SMART_10_PERCENT)

    @cached_property
    def made_here(self) -> bool:
        """Whether every capture is of a corpus of ours, beside its truth: what such a corpus shows
        of the stacks that it was made with is true by construction.
        """
        files = [Path(name) for trace in self.study.traces for name in trace.captures]
        return bool(files) and all(
            any((folder / "truth.json").is_file() for folder in list(file.parents)[:2])
            for file in files
        )

    @cached_property
    def counted(self) -> Mapping[str, pl.DataFrame]:
        """By system, for each connection its retransmissions by class."""
        rows = by_connection(self.study)
        mine = {system: rows.filter(pl.col("system") == system) for system in self.systems}
        return {system: frame for system, frame in mine.items() if frame.height}

    @cached_property
    def detection(self) -> dict[tuple[str, str], Spread]:
        """Detection times in RTTs by system and `RTO` or `FR/R`."""
        rows = self.study.detections("mechanism").drop_nulls("detected_rtts")
        by_kind = {}
        for system in self.systems:
            for word, mechanisms in (("RTO", RTO), ("FR/R", FR)):
                wanted = (pl.col("system") == system) & pl.col("mechanism").is_in(mechanisms)
                detected = of_rows(rows.filter(wanted), "detected_rtts")
                if detected.n:
                    by_kind[system, word] = detected
        return by_kind

    def frame(self, setting: str, system: str) -> pl.DataFrame | None:
        """The senders of a system with `best` and `reduction` in RTTs, and `relative`, the change
        in parts of the duration.
        """
        if setting not in self._frames:
            changes = curves.changes(self.study, setting)
            self._frames[setting] = (
                None
                if changes is None
                else changes.filter(pl.col("duration_s") > 0, pl.col("rtt_avg_s") > 0).with_columns(
                    (pl.col("best_case_s") / pl.col("rtt_avg_s")).fill_null(0).alias("best"),
                    (-pl.col("change_s") / pl.col("rtt_avg_s")).alias("reduction"),
                    (pl.col("change_s") / pl.col("duration_s")).alias("relative"),
                )
            )
        frame = self._frames[setting]
        mine = None if frame is None else frame.filter(pl.col("system") == system)
        return mine if mine is not None and mine.height else None

    def frames(self, setting: str, *systems: str) -> Iterator[tuple[str, pl.DataFrame]]:
        """By system, where there is one."""
        for system in systems or self.systems:
            frame = self.frame(setting, system)
            if frame is not None:
                yield system, frame

    def changed(self, setting: str, system: str, **sums: pl.Expr) -> pl.DataFrame | None:
        """The connections of a system, with what a setting would have changed of their counts."""
        counted = self.counted.get(system)
        if counted is None or not self.study.replayed(setting):
            return None
        columns = sorted(
            {name for expression in sums.values() for name in expression.meta.root_names()}
        )
        rows = self.study.whatif(setting, *columns).select(
            *KEYS, *(expression.alias(name) for name, expression in sums.items())
        )
        joined = counted.join(rows, on=KEYS, how="left", maintain_order="left")
        return joined.with_columns(pl.col(*sums).fill_null(0))

    def reduction(self, setting: str, system: str) -> Estimate | None:
        """The mean reduction of durations in RTTs; None where it was not replayed."""
        frame = self.frame(setting, system)
        return None if frame is None else of_column(frame, "reduction")


def units(frame: pl.DataFrame) -> list[Hashable]:
    """The connection of each row."""
    return list(frame.select(KEYS).iter_rows())


def of_column(frame: pl.DataFrame, column: str) -> Estimate:
    """A mean over connections, a row each."""
    return mean([float(value) for value in frame[column]], units(frame), "study")


def of_rows(frame: pl.DataFrame, column: str) -> Spread:
    """A quantity of retransmissions, of which a connection may have several."""
    return spread(frame[column], units(frame), "study")


def of_sums(frame: pl.DataFrame, part: str, whole: str) -> Measured:
    """The share that one count has of another, each summed over the connections."""
    ratio = of_column(frame, part) / of_column(frame, whole)
    share, error = ratio.value, ratio.error
    if not 0 <= share <= 1:
        # No share: what is caused less what is avoided may be less than nothing.
        return share, ratio.interval
    independent = share * (1 - share) / error**2 if error else float(frame.height)
    return share, of_share(share, max(1.0, min(independent, float(frame[whole].sum()))))


def share_of(frame: pl.DataFrame, wanted: pl.Expr) -> Measured:
    """The share of connections of a kind."""
    share = number(frame.select(wanted.cast(pl.Float64).mean()).item())
    return share, of_share(share, frame.height)


def share_over(values: Spread, least: float) -> Measured:
    """The share of values that are larger."""
    return values.share(least) or (0.0, None)


def median_of(values: Spread) -> Measured:
    """The median, 0 of nothing."""
    return values.percentile(0.5) or 0.0, values.percentile_interval(0.5)


def ratio_of(one: Measured, other: Measured) -> Measured:
    """How many times the one is the other."""
    value = one[0] / other[0] if other[0] else math.inf
    if one[1] is None or other[1] is None:
        return value, None
    return value, of_ratio(one[0], one[1], other[0], other[1])


def part_of(name: str, measured: Measured, band: Band, form: Form) -> Part:
    """Of a claim."""
    return Part(name, measured[0], measured[1], band, form)


def percent(share: float) -> str:
    """A share."""
    return f"{share:.1%}"


def rtts(value: float) -> str:
    """Round-trip times, with their sign."""
    return f"{value:+.2f} RTT"


def times(value: float) -> str:
    """How many times."""
    return f"{value:.2f}"


def almost(value: float) -> Band:
    """From three quarters of it up to it."""
    return Band(0.75 * value, value)


def number(value: object) -> float:
    """What a reduction of a column gave, 0 where it gave nothing."""
    return float(value) if isinstance(value, int | float) else 0.0
