"""What is counted of judged cases: in how many of them what agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rexmit_validate.agree.classes import Skew
from rexmit_validate.agree.compare import Verdict


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that may agree, by its name in `Verdict`."""

    name: str
    words: str
    about: str = ""

    def holds(self, verdict: Verdict) -> bool:
        """Whether it does."""
        return bool(getattr(verdict, self.name))


@dataclass(frozen=True, slots=True)
class Measures:
    """What is told of cases of a kind."""

    cases: str
    """What they are called."""
    difference: str
    """What disagreements are classed by."""
    counted: Measure
    """In what a case agrees that is said to agree."""
    printed: tuple[Measure, ...]


_EXACT: Final = Measure(
    "exact", "every packet agrees", "on each path: order, bytes, mechanism, time within {within}"
)
_AGREE: Final = Measure("agree", "retransmissions and completion agree")

PACKETS: Final = Measures(
    cases="cases",
    difference="first differing packet",
    counted=_EXACT,
    printed=(
        _EXACT,
        Measure("mechanisms", "the same packets and mechanisms", "at whatever time"),
        Measure("packets", "the same packets in the same order"),
        Measure(
            "recovery", "mechanism and t_recover", "of the first retransmission, within {within}"
        ),
    ),
)
"""Of a page over TCP."""

RETRANSMISSIONS: Final = Measures(
    cases="cases of two paths",
    difference="first difference",
    counted=_AGREE,
    printed=(
        _AGREE,
        Measure(
            "retransmissions",
            "the same retransmissions",
            "path and mechanism of each, re-injections too",
        ),
        Measure("completion", "the same completion", "of every burst, within {within}"),
        _EXACT,
    ),
)
"""Of all else: a scheduler may share data out otherwise, which a study of paths does not read."""

_AGAIN: Final = "with_retransmissions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often the model and a kernel agree."""

    measures: Measures
    cases: int
    failed: int
    """Cases that the kernel did not run."""
    counts: Mapping[str, int]
    """Cases in which each of the measures agrees, by name."""
    with_retransmissions: int
    kinds: Mapping[str, list[str]]
    """Names of disagreeing cases by class, the most frequent class first."""
    skews: Sequence[Skew] = ()
    """Settings that disagreements have in common."""

    @property
    def agreed(self) -> int:
        """Cases that agree in what is counted."""
        return self.counts[self.measures.counted.name]

    def rows(self) -> Sequence[tuple[str, int, str]]:
        """In print: what agrees, in how many cases, what is meant."""
        return (
            *((one.words, self.counts[one.name], one.about) for one in self.measures.printed),
            (
                "retransmissions",
                self.with_retransmissions,
                "cases in which something was sent again",
            ),
        )

    def share(self, count: int) -> float:
        """Of the cases that count, in percent."""
        return 100 * count / self.cases if self.cases else 0.0

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        counts = {**self.counts, _AGAIN: self.with_retransmissions}
        return {
            "cases": self.cases,
            "failed": self.failed,
            **{f"{name}_percent": round(self.share(n), 3) for name, n in counts.items()},
            "disagreements": dict(self.kinds),
        }
