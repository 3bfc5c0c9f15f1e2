"""The page as data: plain dicts, lists and numbers under stable names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from rexmit.tracing.advice import Advice
from rexmit.tracing.doubts import warnings
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.settings import in_words
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.summed import Summary

if TYPE_CHECKING:
    from rexmit.whatif.calibration import Calibration


def page_data(
    trace: Trace,
    made: Summary,
    settings: tuple[Advice, ...],
    checked: Calibration | None = None,
    *,
    selected: str = "",
) -> dict[str, Any]:
    """Times in seconds; null where there is nothing. `selected` says which of the connections it is
    about, where not all. A setting's `off_by` says how far predictions
    with it were off in transfers really run, shares of their duration; null where unchecked.
    """

    def off_by(setting: str) -> dict[str, Any] | None:
        error = checked.error_of(setting) if checked else None
        return asdict(error) if error else None

    return {
        "captures": trace.captures,
        "selected": selected or None,
        "facts": asdict(trace.facts),
        "warnings": warnings(trace.facts, made),
        "changed": [asdict(one) for one in trace.changed],
        **_plain(made),
        "settings": [
            {**asdict(one), "words": in_words(one.setting), "off_by": off_by(one.setting)}
            for one in settings
        ],
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """As `asdict`; a sentence is its text."""
    if isinstance(value, Sentence):
        return value.text
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
