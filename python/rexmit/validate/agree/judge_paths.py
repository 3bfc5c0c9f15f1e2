"""Holds the model against the kernel in cases of two paths, and adds up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rexmit.campaign.streams import Streams
from rexmit.validate.agree import model
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.compare_paths import PathVerdict, compare, read
from rexmit.validate.agree.judged import AnyJudged
from rexmit.validate.agree.outcome import Outcome, why_no_log
from rexmit.validate.agree.packet import Packet
from rexmit.validate.agree.rates import Rates, common
from rexmit.validate.agree.show import side_by_side

_UNSENT = "names a packet that is never sent"
"""What both engines say of a case that loses data on a path that bears none of the burst."""


class PathJudged(AnyJudged[Sequence[Any], PathVerdict]):
    """A case of paths, both logs as the engines wrote them, and how far they agree."""

    __slots__ = ()

    AGREES: ClassVar = "retransmissions and completion agree"

    @property
    def retransmitted(self) -> bool:
        """The kernel sent data again, re-injections included."""
        return any(one.packet.mechanism is not None for one in read(self.kernel))

    def beside(self) -> Iterator[str]:
        """Both logs beside each other, path by path."""
        own = len(Packet._fields)
        for path in range(1, self.case.paths + 1):
            yield f"path {path}"
            kernel, made = (
                [Packet(*row[:own]) for row in log if row[own] == path]
                for log in (self.kernel, self.model)
            )
            yield from side_by_side(kernel, made, None)


def judge(
    case: Case,
    outcome: Outcome,
    run_model: model.RunModel,
    streams: Streams,
    *,
    stack: str,
    hz: int,
) -> PathJudged:
    """Run the model on the case and compare."""
    made = model.run(case, run_model, streams, stack=stack, hz=hz)
    if "packets" not in outcome:
        error = why_no_log(outcome)
        if _UNSENT in error and "packets" in made:
            return PathJudged(case, model=made["packets"], kind="only the model sends what is lost")
        return PathJudged(case, kernel_error=error)
    ours = outcome["packets"]
    if _UNSENT in made.get("error", ""):
        return PathJudged(case, ours, kind="only the kernel sends what is lost")
    if "packets" not in made:
        return PathJudged(case, ours, kind=f"the model failed: {why_no_log(made)}")
    theirs = made["packets"]
    verdict = compare(
        (read(ours), outcome.get("completions_ns", [])),
        (read(theirs), made.get("completions_ns", [])),
        1_000_000_000 // hz,
    )
    return PathJudged(case, ours, theirs, verdict, verdict.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathTally(Rates):
    """How often the model and a kernel agree over two paths. Exact: every packet of the server's
    data.
    """

    RATES: ClassVar = ("agree", "retransmissions", "completion", "exact", "with_retransmissions")
    CASES: ClassVar = "cases of two paths"
    DIFFERENCE: ClassVar = "first difference"

    agree: int
    """Retransmissions and completion."""
    retransmissions: int
    """Path and mechanism of every retransmission."""
    completion: int
    """Every burst's, within a tick."""

    @property
    def agreed(self) -> int:
        """Cases in which retransmissions and completion agree."""
        return self.agree

    def rows(self) -> Sequence[tuple[str, int, str]]:
        """In print."""
        return (
            ("retransmissions and completion agree", self.agree, ""),
            (
                "the same retransmissions",
                self.retransmissions,
                "path and mechanism of each, re-injections too",
            ),
            ("the same completion", self.completion, "of every burst, within a tick"),
            (
                "every packet agrees",
                self.exact,
                "on each path: bytes, mechanism, time within a tick",
            ),
            (
                "retransmissions",
                self.with_retransmissions,
                "cases in which something was sent again",
            ),
        )


def tally(judged: Mapping[int, PathJudged]) -> PathTally:
    """Add up."""
    verdicts = [one.verdict for one in judged.values() if one.verdict is not None]
    return PathTally(
        **common(judged),
        agree=sum(verdict.agrees for verdict in verdicts),
        retransmissions=sum(verdict.retransmissions for verdict in verdicts),
        completion=sum(verdict.completion for verdict in verdicts),
    )
