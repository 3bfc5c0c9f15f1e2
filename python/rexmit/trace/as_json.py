"""The page as data: plain dicts, lists and numbers under stable names."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rexmit.trace.advice import Advice
from rexmit.trace.folder import Trace
from rexmit.trace.print_page import warnings
from rexmit.trace.summary import Summary


def page_data(trace: Trace, made: Summary, settings: tuple[Advice, ...]) -> dict[str, Any]:
    """Times in seconds; null where there is nothing."""
    return {
        "captures": trace.captures,
        "facts": asdict(trace.facts),
        "warnings": warnings(trace.facts, made.totals),
        **asdict(made),
        "settings": [asdict(one) for one in settings],
    }
