"""Holds the model against the kernel in cases of two paths, and adds up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rexmit.agree import model
from rexmit.agree.kernel import Outcome
from rexmit.agree.packet import Packet
from rexmit.agree.paths.case import PathCase
from rexmit.agree.paths.compare import PathVerdict, compare, read
from rexmit.agree.rates import Rates, kind_lines, rate_lines
from rexmit.agree.show import side_by_side
from rexmit.campaign.streams import Streams

_UNSENT = "names a packet that is never sent"
"""What both engines say of a case that loses data on a path that bears none of the burst."""


@dataclass(frozen=True, slots=True)
class PathJudged:
    """A case, both logs as the engines wrote them, and how far they agree."""

    case: PathCase
    kernel: list[Any] = field(default_factory=list)
    model: list[Any] = field(default_factory=list)
    verdict: PathVerdict | None = None
    kind: str | None = None
    """The class of a disagreement."""
    kernel_error: str | None = None
    """Why the kernel did not run the case: it does not count."""

    @property
    def counts(self) -> bool:
        """The kernel ran it."""
        return self.kernel_error is None

    @property
    def agrees(self) -> bool:
        """In its resends and in when its bursts are complete."""
        return self.verdict is not None and self.verdict.agrees

    @property
    def words(self) -> str:
        """How it went."""
        if self.verdict is not None and self.verdict.exact:
            return "every packet agrees"
        return "resends and completion agree" if self.agrees else str(self.kind)

    def by_path(self) -> Iterator[str]:
        """Both logs beside each other, path by path."""
        own = len(Packet._fields)
        for path in range(1, len(self.case.path_delays_ns) + 1):
            yield f"path {path}"
            kernel, made = (
                [Packet(*row[:own]) for row in log if row[own] == path]
                for log in (self.kernel, self.model)
            )
            yield from side_by_side(kernel, made, None)


def judge(
    case: PathCase,
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
        error = str(outcome.get("error", "no log"))
        if _UNSENT in error and "packets" in made:
            return PathJudged(case, model=made["packets"], kind="only the model sends what is lost")
        return PathJudged(case, kernel_error=error)
    ours = outcome["packets"]
    if _UNSENT in made.get("error", ""):
        return PathJudged(case, ours, kind="only the kernel sends what is lost")
    if "packets" not in made:
        return PathJudged(case, ours, kind=f"the model failed: {made.get('error', 'no log')}")
    theirs = made["packets"]
    verdict = compare(
        (read(ours), outcome.get("completions_ns", [])),
        (read(theirs), made.get("completions_ns", [])),
        1_000_000_000 // hz,
    )
    return PathJudged(case, ours, theirs, verdict, verdict.kind)


@dataclass(frozen=True, slots=True)
class PathTally(Rates):
    """How often the model and a kernel agree over two paths. Exact: every packet of the server's
    data.
    """

    RATES: ClassVar = ("agree", "resends", "completion", "exact", "with_resends")

    agree: int
    """Resends and completion."""
    resends: int
    """Path and mechanism of every resend."""
    completion: int
    """Every burst's, within a tick."""


def tally(judged: Mapping[int, PathJudged]) -> PathTally:
    """Add up."""
    counted = [one for one in judged.values() if one.counts]
    verdicts = [one.verdict for one in counted if one.verdict is not None]
    kinds: dict[str, list[str]] = {}
    for one in counted:
        if not one.agrees:
            kinds.setdefault(one.kind or "", []).append(one.case.name)
    return PathTally(
        cases=len(counted),
        failed=len(judged) - len(counted),
        with_resends=sum(verdict.resent for verdict in verdicts),
        agree=sum(verdict.agrees for verdict in verdicts),
        resends=sum(verdict.resends for verdict in verdicts),
        completion=sum(verdict.completion for verdict in verdicts),
        exact=sum(verdict.exact for verdict in verdicts),
        kinds=dict(sorted(kinds.items(), key=lambda item: -len(item[1]))),
    )


def lines(tally: PathTally, *, kernel: str, stack: str, hz: int) -> Iterator[str]:
    """What is printed: the rates, then the classes of disagreement."""
    yield f"{tally.cases:,} cases of two paths, model {stack} against kernel {kernel} at {hz} Hz"
    if tally.failed:
        yield f"{tally.failed} more were not run by the kernel and do not count"
    rows = (
        ("resends and completion agree", tally.agree, ""),
        ("the same resends", tally.resends, "path and mechanism of each, re-injections too"),
        ("the same completion", tally.completion, "of every burst, within a tick"),
        ("every packet agrees", tally.exact, "path, bytes, mechanism, time within a tick"),
        ("resends", tally.with_resends, "cases in which something was sent again"),
    )
    yield from rate_lines(tally, rows)
    yield from kind_lines(tally, "first difference")
