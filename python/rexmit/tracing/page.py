"""What a trace says on one page: terminal, JSON and browser are made of it."""

from __future__ import annotations

from typing import Any

from rexmit.result.plain import plain
from rexmit.tracing.advice import Advice
from rexmit.tracing.advice import advice as advise
from rexmit.tracing.doubts import warnings
from rexmit.tracing.folder import Trace
from rexmit.tracing.selection import Selection
from rexmit.tracing.sentences.settings import in_words
from rexmit.tracing.summary import summary as summed
from rexmit.tracing.summed import Summary
from rexmit.values import dataclass
from rexmit.version import version
from rexmit.whatif.calibration import Calibration, load


@dataclass(frozen=True)
class Page:
    """The page of a trace, or of the part of one that was selected.

    `summary` has totals, mechanisms, troubles and the worst connections; `advice` the settings that
    would have saved most, and those that were asked for by name. `checked` says how far such
    predictions were off when `check_whatif` was called last, else when the package was made; it is
    None where there are none. Times are in seconds.
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
        """The page as plain data under stable names. Times in seconds; null where there is nothing,
        and for `off_by` of a setting that was not checked."""
        trace, summary, checked = self.trace, self.summary, self.checked
        return {
            "captures": trace.captures,
            "selected": self.selected or None,
            "facts": plain(trace.facts),
            "warnings": warnings(trace.facts, summary),
            "changed": plain(trace.changed),
            **plain(summary),
            "settings": [
                {
                    **plain(one),
                    "words": in_words(one.setting),
                    "off_by": plain(checked.error_of(one.setting)) if checked else None,
                }
                for one in self.advice
            ],
        }


def told_of(trace: Trace) -> str:
    """Which connections of all it has; empty for a whole trace."""
    return trace.text if isinstance(trace, Selection) else ""


def page(trace: Trace) -> Page:
    """What went wrong in a trace, why, what it cost, and which settings would have helped."""
    settings = advise(trace)
    return Page(trace, summed(trace), settings, load(version()) if settings else None)
