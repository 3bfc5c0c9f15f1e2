"""Rates of agreement: what tallies of any kind of case have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

from rexmit.validate.agree.classes import Skew
from rexmit.validate.agree.judged import AnyJudged


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates(ABC):
    """What every tally counts."""

    RATES: ClassVar[tuple[str, ...]]
    """The counts that are given in percent."""
    CASES: ClassVar[str]
    """What is counted, in words."""
    DIFFERENCE: ClassVar[str]
    """What disagreements are classed by."""

    cases: int
    failed: int
    """Cases that the kernel did not run."""
    with_retransmissions: int
    exact: int
    """Every packet agrees."""
    kinds: Mapping[str, list[str]]
    """Names of disagreeing cases by class, the most frequent class first."""
    skews: Sequence[Skew] = ()
    """Settings that disagreements have in common, where they were looked for."""

    @property
    @abstractmethod
    def agreed(self) -> int:
        """Cases that agree in what is counted."""

    @abstractmethod
    def rows(self) -> Sequence[tuple[str, int, str]]:
        """In print: what agrees, in how many cases, what is meant."""

    def share(self, count: int) -> float:
        """Of the cases that count, in percent."""
        return 100 * count / self.cases if self.cases else 0.0

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "cases": self.cases,
            "failed": self.failed,
            **{f"{name}_percent": round(self.share(getattr(self, name)), 3) for name in self.RATES},
            "disagreements": dict(self.kinds),
        }


class Common(TypedDict):
    """The fields of `Rates` that come of any judged cases."""

    cases: int
    failed: int
    with_retransmissions: int
    exact: int
    kinds: Mapping[str, list[str]]


def common(judged: Mapping[int, AnyJudged[Any, Any]]) -> Common:
    """Add up what every tally counts."""
    counted = [one for one in judged.values() if one.counts]
    kinds: dict[str, list[str]] = {}
    for one in counted:
        if not one.agrees:
            kinds.setdefault(one.kind or "", []).append(one.case.name)
    return {
        "cases": len(counted),
        "failed": len(judged) - len(counted),
        "with_retransmissions": sum(one.retransmitted for one in counted),
        "exact": sum(one.exact for one in counted),
        "kinds": dict(sorted(kinds.items(), key=lambda item: -len(item[1]))),
    }
