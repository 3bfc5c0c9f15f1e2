"""What a paper claims, and whether a run bears it out.

A claim rests on parts: a value with its interval, and the band in which the paper's words say that
it lies. It holds where the whole interval of every part lies in its band, it does not where that of
any lies outside, and else it is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from rexmit.statistics.estimate import Estimate
from rexmit.statistics.interval import LEVEL, Interval
from rexmit.statistics.verdict import Band, Verdict, every

Form = Callable[[float], str]
"""A number in words."""


@dataclass(frozen=True)
class Part:
    """A value of a claim; without an interval, as of a single transfer, it decides nothing."""

    name: str
    value: float
    interval: Interval | None
    band: Band
    form: Form

    @property
    def verdict(self) -> Verdict:
        """Whether it lies in its band."""
        return self.band.judge(self.interval)

    @property
    def doubt(self) -> float:
        """How likely the value lies on the other side of the nearest end of its band, by the
        interval's width; 0 where nothing varies.
        """
        if self.interval is None or self.interval.exact or not math.isfinite(self.value):
            return 0.0
        ends = [end for end in (self.band.low, self.band.high) if math.isfinite(end)]
        normal = NormalDist()
        most = 0.0
        for end in ends:
            side = self.interval.low if end < self.value else self.interval.high
            if side != self.value:
                away = abs(end - self.value) / abs(side - self.value)
                most = max(most, normal.cdf(normal.inv_cdf((1 - LEVEL) / 2) * away))
        return most

    @property
    def words(self) -> str:
        """`mobile -19% (-20% to -18%)`."""
        text = f"{self.name} {self.form(self.value)}".strip()
        if self.interval is None:
            return f"{text} (one case)"
        if self.interval.exact:
            return text
        ends = (self.interval.low, self.interval.high)
        low, high = (self.form(end) if math.isfinite(end) else "?" for end in ends)
        return f"{text} ({low} to {high})"


@dataclass(frozen=True)
class Claim:
    """`verdict` is None where the run has nothing to tell it by. What is true by construction is
    not `counted`.
    """

    key: str
    words: str  #: the claim, shortened
    verdict: Verdict | None
    measured: str
    parts: tuple[Part, ...] = ()
    counted: bool = True

    @property
    def word(self) -> str:
        """The verdict, as it is printed."""
        if self.verdict is None:
            return "-"
        return self.verdict.value if self.counted else "by construction"

    @property
    def decided(self) -> bool:
        """Whether it counts among those that hold or do not."""
        return self.counted and self.verdict in (Verdict.HOLDS, Verdict.DOES_NOT)

    @property
    def false_by_chance(self) -> float:
        """How likely the verdict is wrong by chance, about, and at most: of what holds the value
        nearest to an end of its band may lie beyond it; of what does not all values may lie in
        theirs, the one farthest out included, which was looked for among so many.
        """
        if not self.decided:
            return 0.0
        if self.verdict is Verdict.HOLDS:
            return max((part.doubt for part in self.parts), default=0.0)
        outside = [part.doubt for part in self.parts if part.verdict is Verdict.DOES_NOT]
        return min(1.0, min(outside, default=0.0) * len(self.parts))


@dataclass(frozen=True)
class Source:
    """Whose claims they are: the year of the paper, what it is called, what its words are taken to
    mean.
    """

    year: str
    title: str
    meant: str


def claim(
    key: str,
    words: str,
    parts: Iterable[Part],
    measured: str | None = None,
    *,
    counted: bool = True,
    nothing: str = "nothing to tell it by",
) -> Claim:
    """Of its parts; `measured` says them where they are too many to be said one by one."""
    judged = tuple(parts)
    if measured is None:
        measured = ", ".join(part.words for part in judged)
        bands = list(dict.fromkeys(band_words(part) for part in judged))
        if len(bands) == 1:
            measured += f"; to be {bands[0]}"
    verdict = every(part.verdict for part in judged)
    return Claim(key, words, verdict, measured if judged else nothing, judged, counted)


def band_words(part: Part) -> str:
    """`75% to 125%`, `more than 50%`."""
    band = part.band
    if band.low == -math.inf:
        return f"at most {part.form(band.high)}"
    if band.high == math.inf:
        return f"at least {part.form(band.low)}"
    return f"{part.form(band.low)} to {part.form(band.high)}"


def of_estimate(name: str, estimate: Estimate, band: Band, form: Form) -> Part:
    """A part whose value is reckoned of means."""
    return Part(name, estimate.value, estimate.interval, band, form)


def summed_up(claims: Sequence[Claim]) -> str:
    """`7 hold, 4 do not, 2 undecided; by chance at most 0.4 of 11 verdicts are expected wrong`."""
    counted = [each for each in claims if each.counted]
    numbers = [sum(one.verdict is verdict for one in counted) for verdict in Verdict]
    words = ("hold", "do not", "undecided")
    text = ", ".join(f"{n} {word}" for n, word in zip(numbers, words, strict=True))
    aside = sum(not each.counted for each in claims)
    if aside:
        text += f", {aside} true by construction and not counted"
    wrong = sum(each.false_by_chance for each in claims)
    decided = sum(each.decided for each in claims)
    return f"{text}; of {decided} verdicts at most {wrong:.2f} are expected to be wrong by chance"


def claims_data(claims: tuple[Claim, ...]) -> list[dict[str, Any]]:
    """`verdict` is null where the run has nothing to tell it by; ends without bound are null."""
    return [
        {
            "key": one.key,
            "words": one.words,
            "verdict": one.verdict,
            "counted": one.counted,
            "measured": one.measured,
            "false_by_chance": one.false_by_chance,
            "parts": [
                {
                    "name": part.name,
                    "value": part.value if math.isfinite(part.value) else None,
                    "interval": None if part.interval is None else part.interval.data,
                    "band": Interval(part.band.low, part.band.high).data,
                    "verdict": part.verdict,
                }
                for part in one.parts
            ],
        }
        for one in claims
    ]
