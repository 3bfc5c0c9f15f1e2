"""What a trace says on one page: what was lost and why, who waited, what would have helped."""

from __future__ import annotations

import math
from dataclasses import replace

from rexmit.errors import UserError, argument, by_caller
from rexmit.tracing import page as pages
from rexmit.tracing.folder import SLOW_S, Trace
from rexmit.tracing.groups import KEYS, Group, Key
from rexmit.tracing.groups import by as summed_up
from rexmit.tracing.page import Page
from rexmit.tracing.selection import Selection
from rexmit.tracing.unfit import unfit


def page(trace: Trace, *, slow_ms: float | None = None) -> Page:
    """What went wrong in a trace, why, what it cost, and which settings would have helped. A wait
    of `slow_ms` is slow, 200 where it is None. Raises UserError for one that is no time.
    """
    return pages.page(trace if slow_ms is None else replace(trace, slow_s=slow_s(slow_ms)))


def slow_s(slow_ms: float | None) -> float:
    """From how many seconds on a wait is slow. Raises UserError (usage)."""
    if slow_ms is None:
        return SLOW_S
    if not 0 < slow_ms < math.inf:
        raise UserError(
            f"{by_caller(called='slow_ms', typed='--slow')} {slow_ms:g}: no length of a wait",
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
    meant = next((known for known in KEYS if known == word), None)
    if meant is None:
        raise UserError(
            f"{argument('by')} {word}: no such table", f"one of {', '.join(KEYS)}", usage=True
        )
    return meant


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
