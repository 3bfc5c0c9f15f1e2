"""What-if as data for sliders: the settings that were computed, and nothing between them."""

from __future__ import annotations

from typing import Any, Final

from rexmit.tracing.advice import known, of_settings
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.settings import in_words
from rexmit.version import version
from rexmit.whatif.calibration import load
from rexmit.whatif.settings import parts

_NAMES: Final = {
    "min_rto": "least timeout (min_rto)",
    "k": "factor of the deviation in the timeout (k)",
    "m": "factor of the round trip in the timeout (m)",
    "a": "gain of the deviation (a)",
    "b": "gain of the round trip (b)",
    "d": "duplicate ACKs that make a loss (d)",
    "tlp": "tail loss probe",
    "rack": "RACK",
    "undo": "undo of spurious timeouts",
    "frto": "F-RTO",
}


def sliders(trace: Trace, command: str, other: str) -> dict[str, Any] | None:
    """Every setting that was tried, by its parts, with what it would have changed; None where none
    was. Times in seconds, over all connections. `command` prints them, `other` computes another
    one.
    """
    checked = load(version())
    rows = []
    for row in of_settings(trace, known(trace)).to_dicts():
        setting = row["setting"]
        error = checked.error_of(setting) if checked else None
        rows.append(
            {
                **row,
                "off_median": error and error.median,
                "off_p95": error and error.p95,
                "off_sign": error and error.wrong,
                "named": setting in trace.facts.named,
                "parts": parts(setting),
                "words": in_words(setting),
            }
        )
    if not rows:
        return None
    connections = trace.scan("connections").select("waited_s").collect()
    values: dict[str, list[str]] = {}
    for row in rows:
        for name, value in row["parts"].items():
            if value not in values.setdefault(name, []):
                values[name].append(value)
    return {
        "dimensions": [
            {
                "name": name,
                "words": _NAMES.get(name, name),
                "values": sorted(values[name], key=_place),
            }
            for name in sorted(values, key=[*_NAMES, *values].index)
        ],
        "settings": rows,
        "waited_s": float(connections["waited_s"].sum()),
        "connections": connections.height,
        "command": command,
        "other": other,
    }


def _place(value: str) -> tuple[int, float, str]:
    """Numbers and times in order, words behind them."""
    for unit, factor in (("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("", 1.0)):
        over, _, under = value.removesuffix(unit).partition("/")
        if value.endswith(unit):
            try:
                return 0, factor * float(over) / float(under or 1), value
            except ValueError:
                continue
    return 1, 0.0, value
