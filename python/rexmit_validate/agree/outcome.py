"""What an engine made of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Outcome = dict[str, Any]
"""`transfer` (its row), `packets` (the log), `completions_ns` of bursts over paths, or `error`."""


def note(outcome: Outcome, event: Mapping[str, Any]) -> None:
    """Take what an event of the case's cell says."""
    match event["type"]:
        case "transfer":
            outcome["transfer"] = event
        case "packets":
            outcome["packets"] = event["packets"]
        case "cell-start":
            outcome["head_bytes"] = event.get("head_bytes")
            outcome["warnings"] = event["warnings"]
        case "burst":
            outcome.setdefault("completions_ns", []).append(event["completion_ns"])
        case "cell-error":
            outcome["error"] = event["message"]
        case _:
            pass


def why_no_log(outcome: Outcome) -> str:
    """Of an outcome without packets."""
    return str(outcome.get("error", "no log"))
