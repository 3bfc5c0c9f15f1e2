"""Whether two runs, or two traces, differ more than is allowed."""

from __future__ import annotations

from dataclasses import dataclass

from rexmit.comparison.compare import Comparison
from rexmit.comparison.traces.compare import TraceComparison
from rexmit.errors import UserError
from rexmit.scenario.units import UnitError, parse_share


@dataclass(frozen=True)
class Trip:
    """A cell, or a place, that differs more than is allowed, in one quantity."""

    label: str
    metric: str
    percent: float | None  #: None where only one of the two has the quantity, or A's is nothing


def share(text: str) -> float:
    """The percentage of `--fail-over 5%`, as a share of one. Raises UserError (usage)."""
    try:
        return parse_share(text)
    except UnitError as error:
        raise UserError(f"--fail-over {text}: {error}", error.allowed, usage=True) from None


def trips(comparison: Comparison | TraceComparison, most: float) -> list[Trip]:
    """The differences of the compared quantities that are more than chance and than `most`; of
    traces those that are worse.
    """
    over = []
    if isinstance(comparison, TraceComparison):
        for change in comparison.judged("worse"):
            if change.percent is None or change.percent > most * 100:
                name = f"{change.metric} {change.of}".rstrip()
                over.append(Trip(str(change.place), name, change.percent))
        return over
    for cell in comparison.cells:
        for metric in comparison.metrics:
            here = cell.difference(metric)
            if here.beyond and (here.percent is None or abs(here.percent) > most * 100):
                over.append(Trip(cell.label, metric, here.percent))
    return over
