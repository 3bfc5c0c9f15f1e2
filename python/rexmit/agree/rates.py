"""Rates of agreement: the form that tallies of any kind of case have, as data and in print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

_NAMED = 6


@dataclass(frozen=True, slots=True)
class Rates:
    """What every tally counts."""

    RATES: ClassVar[tuple[str, ...]]
    """The counts that are given in percent."""

    cases: int
    failed: int
    """Cases that the kernel did not run."""
    with_resends: int
    exact: int
    """Every packet agrees."""
    kinds: Mapping[str, list[str]]
    """Names of disagreeing cases by class, the most frequent class first."""

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


def rate_lines(tally: Rates, rows: Iterable[tuple[str, int, str]]) -> Iterator[str]:
    """A line a rate: its name, its count, what is meant."""
    for name, count, about in rows:
        remark = f"  {about}" if about else ""
        yield f"  {name:<36}{tally.share(count):6.1f}%  {count:>6,}{remark}"


def kind_lines(tally: Rates, title: str) -> Iterator[str]:
    """The classes of disagreement; nothing where all agree."""
    if tally.kinds:
        yield ""
        yield f"{title}:"
        for kind, names in tally.kinds.items():
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"  {len(names):>4}  {kind}: {', '.join(names[:_NAMED])}{more}"
