"""What claims of UNC 2007 ask of a study, and how a claim is made of the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from rexmit_papers.claim import Claim
from rexmit_papers.unc_2007 import curves
from rexmit_papers.unc_2007.paper import SMART_10_PERCENT
from rexmit_papers.unc_2007.senders import Study
from rexmit_papers.unc_2007.systems import FR, RTO
from rexmit_papers.unc_2007.tables import Classes, Tables


@dataclass(frozen=True)
class Reduction:
    """What a setting does to one system's connections. In RTTs of each, a reduction above 0."""

    mean: float
    best: float  #: the mean Best-Case reduction
    shorter: float  #: shares of connections
    longer: float
    shorter_10: float
    longer_10: float
    n: int


@dataclass(frozen=True)
class Told:
    """The study, and what claims ask of it."""

    study: Study
    tables: Tables
    _frames: dict[str, pl.DataFrame | None] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Of the paper's those that there are."""
        return tuple(one for one in self.study.systems if one in SMART_10_PERCENT)

    @cached_property
    def classes(self) -> dict[str, Classes]:
        return {one.system: one for one in self.tables.classes if one.total}

    @cached_property
    def detection(self) -> dict[tuple[str, str], pl.Series]:
        """Detection times in RTTs by system and `RTO` or `FR/R`."""
        rows = self.study.detections("mechanism").drop_nulls("detected_rtts")
        made = {}
        for system in self.systems:
            for word, mechanisms in (("RTO", RTO), ("FR/R", FR)):
                wanted = (pl.col("system") == system) & pl.col("mechanism").is_in(mechanisms)
                times = rows.filter(wanted)["detected_rtts"]
                if times.len():
                    made[system, word] = times
        return made

    def frame(self, setting: str, system: str) -> pl.DataFrame | None:
        """The senders of a system with `best` and `reduction` in RTTs, and `relative`, the change
        in parts of the duration.
        """
        if setting not in self._frames:
            made = curves.changes(self.study, setting)
            self._frames[setting] = (
                None
                if made is None
                else made.filter(pl.col("duration_s") > 0, pl.col("rtt_avg_s") > 0).with_columns(
                    (pl.col("best_case_s") / pl.col("rtt_avg_s")).alias("best"),
                    (-pl.col("change_s") / pl.col("rtt_avg_s")).alias("reduction"),
                    (pl.col("change_s") / pl.col("duration_s")).alias("relative"),
                )
            )
        frame = self._frames[setting]
        mine = None if frame is None else frame.filter(pl.col("system") == system)
        return mine if mine is not None and mine.height else None

    def reduction(self, setting: str, system: str) -> Reduction | None:
        """What a setting does; None where it was not replayed."""
        frame = self.frame(setting, system)
        return None if frame is None else reduced(frame)

    def bins(self, setting: str, system: str) -> Sequence[curves.Bin]:
        """Its bins of so many connections that a mean says something."""
        made = curves.of_setting(self.study, system, setting)
        return [one for one in made.bins if one.n >= 5] if made else []

    def of(self, setting: str, systems: Iterable[str]) -> dict[str, Reduction]:
        """By system, where there is one."""
        found = ((system, self.reduction(setting, system)) for system in systems)
        return {system: one for system, one in found if one is not None}


def reduced(frame: pl.DataFrame) -> Reduction:
    """The means over senders."""

    def mean(of: pl.Series) -> float:
        return number(of.mean())

    return Reduction(
        mean=mean(frame["reduction"]),
        best=mean(frame["best"].fill_null(0)),
        shorter=mean(frame["change_s"] < 0),
        longer=mean(frame["change_s"] > 0),
        shorter_10=mean(frame["relative"] <= -0.1),
        longer_10=mean(frame["relative"] >= 0.1),
        n=frame.height,
    )


def claim(
    key: str,
    words: str,
    holds: bool | None,
    numbers: Mapping[str, str] | str,
) -> Claim:
    """A claim that rests on these numbers; none of them, and it cannot be told."""
    if isinstance(numbers, str):
        measured = numbers
    else:
        measured = ", ".join(f"{name} {text}" for name, text in numbers.items())
    return Claim(key, words, holds if measured else None, measured or "nothing to tell it by")


def of_each(
    key: str,
    words: str,
    values: Mapping[str, float],
    holds: Callable[[str, float], bool],
    form: Callable[[float], str],
) -> Claim:
    """A claim of each system."""
    verdict = all(holds(system, value) for system, value in values.items()) if values else None
    return claim(key, words, verdict, {system: form(value) for system, value in values.items()})


def percent(share: float) -> str:
    """A share."""
    return f"{share:.1%}"


def rtts(value: float) -> str:
    """Round-trip times, with their sign."""
    return f"{value:+.2f} RTT"


def is_around(value: float, of: float) -> bool:
    """Within half of it more or less."""
    return of / 2 <= value <= of * 1.5


def texts(values: Mapping[str, float], form: Callable[[float], str]) -> dict[str, str]:
    """Each number in words."""
    return {name: form(value) for name, value in values.items()}


def median(of: pl.Series) -> float:
    """The median, 0 of nothing."""
    return number(of.median())


def number(value: object) -> float:
    """What a reduction of a column gave, 0 where it gave nothing."""
    return float(value) if isinstance(value, int | float) else 0.0
