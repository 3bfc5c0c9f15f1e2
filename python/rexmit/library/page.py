"""What a trace says on one page: what was lost and why, who waited, what would have helped."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from rexmit.errors import UserError, argument, by_caller
from rexmit.tracing.advice import Advice
from rexmit.tracing.advice import advice as advise
from rexmit.tracing.as_json import page_data
from rexmit.tracing.folder import SLOW_S, Trace
from rexmit.tracing.groups import KEYS, Group, Key
from rexmit.tracing.groups import by as summed_up
from rexmit.tracing.selection import Selection
from rexmit.tracing.summary import summary as summed
from rexmit.tracing.summed import Summary
from rexmit.tracing.unfit import unfit
from rexmit.version import version
from rexmit.whatif.calibration import Calibration, load


@dataclass(frozen=True)
class Page:
    """The page of a trace, or of the part of one that was selected.

    `summary` has totals, mechanisms, troubles and the worst connections; `advice` the settings that
    would have saved most, and those that were asked for by name. `checked` says how far such
    predictions were off when `check_whatif` was called last, else when the package was made. Times
    are in seconds.
    """

    trace: Trace
    summary: Summary
    advice: tuple[Advice, ...]
    checked: Calibration | None

    @property
    def selected(self) -> str:
        """Which connections it is about; empty where all."""
        return told_of(self.trace)

    def as_json(self) -> dict[str, Any]:
        """The page as plain data under stable names."""
        return page_data(
            self.trace, self.summary, self.advice, self.checked, selected=self.selected
        )


def told_of(trace: Trace) -> str:
    """Which connections of all it has; empty for a whole trace."""
    return trace.told if isinstance(trace, Selection) else ""


def page(trace: Trace, *, slow_ms: float | None = None) -> Page:
    """What went wrong in a trace, why, what it cost, and which settings would have helped. A wait
    of `slow_ms` is slow, 200 where it is None. Raises UserError for one that is no time.
    """
    made = trace if slow_ms is None else replace(trace, slow_s=slow_s(slow_ms))
    return Page(trace, summed(made), advise(trace), load(version()))


def slow_s(slow_ms: float | None) -> float:
    """From how many seconds on a wait is slow. Raises UserError (usage)."""
    if slow_ms is None:
        return SLOW_S
    if not 0 < slow_ms < math.inf:
        raise UserError(
            f"{by_caller(called='slow_ms', typed='--slow')} {slow_ms:g}: no wait takes so long",
            "milliseconds, more than 0",
            usage=True,
        )
    return slow_ms / 1e3


def groups(trace: Trace, by: str) -> tuple[Group, ...]:
    """Who has the trouble: counts and times (seconds) by "host", by the server's "port", or by
    "prefix" (/24, /64), those that waited longest first. Raises UserError for another word.
    """
    return summed_up(trace, key(by))


def key(word: str) -> Key:
    """What groups are made by. Raises UserError (usage)."""
    found = next((known for known in KEYS if known == word), None)
    if found is None:
        raise UserError(
            f"{argument('by')} {word}: no such table", f"one of {', '.join(KEYS)}", usage=True
        )
    return found


def why_empty(part: Trace) -> list[tuple[str, str]]:
    """Of a selection without connections: which of the wishes leaves nothing, what there is in its
    place, and what to do, each with a label. Nothing where there are connections, or were none
    before.
    """
    if not isinstance(part, Selection) or part.whole is None:
        return []
    if not _is_empty(part) or _is_empty(part.whole):
        return []
    return unfit(part.whole, part.wanted)


def _is_empty(trace: Trace) -> bool:
    return trace.scan("connections").limit(1).collect().is_empty()
