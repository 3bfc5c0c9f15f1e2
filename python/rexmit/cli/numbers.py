"""What is wrong with a number that is typed, in plain words: Typer has a validator's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from typer import BadParameter

from rexmit.escaping import shown

_WORDS: Final[Mapping[str, Callable[[str, dict[str, Any]], str]]] = {
    "int_parsing": lambda value, _: f"{value} is no whole number",
    "int_parsing_size": lambda value, _: f"{value} is too large",
    "float_parsing": lambda value, _: f"{value} is no number",
    "greater_than_equal": lambda value, bound: f"{value} is less than {bound['ge']}",
    "less_than_equal": lambda value, bound: f"{value} is more than {bound['le']}",
}
"""By the kind of pydantic's error, from the value and its bound."""


def plain(error: BadParameter) -> str:
    """The message of an error; of one that is about no number, as it is."""
    from pydantic import ValidationError

    cause = error.__cause__
    first = cause.errors()[0] if isinstance(cause, ValidationError) else None
    words = None if first is None else _WORDS.get(first["type"])
    if first is None or words is None:
        return error.message
    text = words(shown(str(first["input"])), first.get("ctx", {}))
    least, most = (getattr(error.param, name, None) for name in ("min", "max"))
    if least is None:
        return text
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    return f"{text}; give one {bounds}"
