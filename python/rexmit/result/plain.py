"""A result as plain data for `--json`: dicts, lists and numbers under the names of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from rexmit.result.sentence import Sentence


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """As `asdict`; a sentence is its text."""
    if isinstance(value, Sentence):
        return value.text
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value
