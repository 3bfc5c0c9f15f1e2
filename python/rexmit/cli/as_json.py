"""`--json`: plain data on standard output."""

from __future__ import annotations

from rexmit import outputs


def print_json(data: object) -> None:
    """One document, indented; no number in it may be infinite or none."""
    import json

    outputs.lines(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
