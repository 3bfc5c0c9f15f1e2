"""Whether B is worse than A, of two runs or of two traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from rexmit.analysis.leave_out import Reason, reason
from rexmit.comparison.compare import CellDiff, Comparison
from rexmit.comparison.measures import ESTIMATES, Difference
from rexmit.comparison.traces.compare import TraceComparison
from rexmit.errors import EXIT_CANNOT_TELL, EXIT_FAILED, EXIT_OK, UserError, argument
from rexmit.scenario.units import UnitError, parse_share
from rexmit.statistics.estimate import known, relative
from rexmit.statistics.interval import Interval
from rexmit.wording import count

ALWAYS: Final = ("timeouts", "probes", "spurious")
"""Numbers a transfer of which more is worse, whatever is compared."""


class Judgement(StrEnum):
    """Of one quantity in one cell, or at one place."""

    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    BETTER = "better"


@dataclass(frozen=True)
class Finding:
    """Where B is worse or better than A, or more repetitions would have to show which.

    `percent` is of A's mean, with its interval; None where A's is nothing, or where it is no
    quantity that differs.
    """

    judgement: Judgement
    label: str
    what: str
    percent: float | None = None
    low: float | None = None
    high: float | None = None
    text: str = ""

    @property
    def words(self) -> str:
        """`t_recover +10.0% (+9.1% to +11.2%)`."""
        if self.percent is None:
            return f"{self.what} {self.text}".rstrip()
        between = "" if self.low is None else f" ({self.low:+.1f}% to {self.high:+.1f}%)"
        return f"{self.what} {self.percent:+.1f}%{between}"


@dataclass(frozen=True)
class Gate:
    """All that counts by the limit `most`, a share of one; `labels` are the cells or places."""

    most: float
    labels: tuple[str, ...]
    findings: tuple[Finding, ...]

    def judged(self, judgement: Judgement) -> list[Finding]:
        """Those with a judgement, the largest first."""
        chosen = [one for one in self.findings if one.judgement is judgement]
        return sorted(chosen, key=lambda one: -abs(one.percent or 0.0))

    @property
    def exit_status(self) -> int:
        """1: something is worse; 125: of something it cannot be told; else 0."""
        if self.judged(Judgement.WORSE):
            return EXIT_FAILED
        return EXIT_CANNOT_TELL if self.judged(Judgement.CANNOT_TELL) else EXIT_OK

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "worse_than": self.most,
            "exit_status": self.exit_status,
            "findings": [asdict(one) for one in self.findings],
        }


def share(text: str) -> float:
    """The percentage of `5%`, as a share of one. Raises UserError (usage)."""
    try:
        return parse_share(text)
    except UnitError as error:
        where = argument("worse_than", text)
        raise UserError(f"{where}: {error}", error.allowed, usage=True) from None


def gate(comparison: Comparison | TraceComparison, most: float) -> Gate:
    """Holds B to A.

    A quantity is worse where its whole interval lies beyond A's mean and `most` of it, in times
    also beyond a tick; where only a part of it does, it cannot be told. Of round-trip times and
    timeouts as they are estimated either way is worse. Besides count another first retransmission,
    more timeouts, probes and spurious retransmissions, by more than chance; transfers that did not
    end; cells that one of the runs lacks, and those that failed. Of traces it is worse what got
    worse by more than chance and by more than `most`.
    """
    if isinstance(comparison, TraceComparison):
        changes = tuple(_of_traces(comparison, most))
        return Gate(most, tuple(map(str, comparison.places)), changes)
    labels = [*(cell.label for cell in comparison.cells), *comparison.only_a, *comparison.only_b]
    return Gate(most, tuple(labels), tuple(_of_runs(comparison, most)))


def _of_runs(comparison: Comparison, most: float) -> Iterator[Finding]:
    for cell in comparison.cells:
        for metric in comparison.metrics:
            yield from _quantity(cell.label, cell.difference(metric), most)
        yield from _behaviour(cell, comparison.metrics)
    for label in comparison.only_a:
        yield Finding(Judgement.WORSE, label, "missing: only A has this cell")
    for label in comparison.only_b:
        yield Finding(Judgement.WORSE, label, "new: only B has this cell")
    for letter, failed in zip("AB", comparison.failed, strict=True):
        if failed:
            text = f"{count(failed, 'cell')} failed"
            yield Finding(Judgement.CANNOT_TELL, f"run {letter}", text)


def _quantity(label: str, here: Difference, most: float) -> Iterator[Finding]:
    if here.estimate is None:
        if here.one_sided:
            side = "B" if here.a.n else "A"
            yield Finding(Judgement.WORSE, label, here.metric, text=f"is in no transfer of {side}")
        return
    a, b = here.a.estimate, here.b.estimate
    assert a is not None  # noqa: S101 - or there were no difference
    assert b is not None  # noqa: S101
    ways = [b - a] if here.metric not in ESTIMATES else [b - a, a - b]
    judgement = None
    for way in ways:
        # The shift by a tick is known, that by a share of A's mean as well as the mean is.
        by_share = a.value * most >= here.least
        beyond = way - (a.times(most) if by_share else known(here.least))
        interval = beyond.interval or Interval(beyond.value, beyond.value)
        # Floating point leaves a trace where nothing differs.
        trace = 1e-12 + 1e-9 * abs(a.value)
        if interval.low > trace:
            judgement = Judgement.WORSE
        elif interval.high > trace and judgement is None:
            judgement = Judgement.CANNOT_TELL
    if judgement is None and here.beyond and here.metric not in ESTIMATES:
        judgement = Judgement.BETTER if here.estimate.value < 0 else None
    if judgement is not None:
        yield _finding(judgement, label, here)


def _finding(judgement: Judgement, label: str, here: Difference) -> Finding:
    gain = relative(here.b.estimate, here.a.estimate)
    if gain is None:
        means = [0.0 if side.mean_s is None else side.mean_s for side in (here.a, here.b)]
        text = f"{means[0]:.4g}, now {means[1]:.4g} a transfer"
        return Finding(judgement, label, here.metric, text=text)
    ends = (None, None) if gain.interval is None else gain.interval.times(100).data
    return Finding(judgement, label, here.metric, gain.value * 100, ends[0], ends[1])


def _behaviour(cell: CellDiff, metrics: tuple[str, ...]) -> Iterator[Finding]:
    """What is worse in what the senders do, whichever quantities are compared."""
    for metric in ALWAYS:
        here = cell.difference(metric)
        if metric not in metrics and here.beyond and (here.difference or 0.0) > 0:
            yield _finding(Judgement.WORSE, cell.label, here)
    if cell.firsts.beyond:
        sides = [
            ", ".join(f"{number} {name or 'none'}" for name, number in side.items())
            for side in (cell.firsts.a, cell.firsts.b)
        ]
        text = f"{sides[0]}; now {sides[1]}"
        yield Finding(Judgement.WORSE, cell.label, "first retransmission", text=text)
    # Inexact ones are those of the line's or the filter's making, not of the stack's.
    of_stack = [Reason.INCOMPLETE.value, Reason.STALLED.value]
    a, b = (
        side.rows.select(reason(keep_inexact=True).is_in(of_stack).sum()).item()
        for side in (cell.pair.a, cell.pair.b)
    )
    if b > a:
        text = f"{a}, now {b} transfers"
        yield Finding(Judgement.WORSE, cell.label, "incomplete or stalled", text=text)


def _of_traces(comparison: TraceComparison, most: float) -> Iterator[Finding]:
    for judgement in (Judgement.WORSE, Judgement.BETTER):
        for change in comparison.judged("worse" if judgement is Judgement.WORSE else "better"):
            percent = change.percent
            if judgement is Judgement.BETTER or percent is None or percent > most * 100:
                name = f"{change.metric} {change.of}".rstrip()
                yield Finding(judgement, str(change.place), name, percent)
