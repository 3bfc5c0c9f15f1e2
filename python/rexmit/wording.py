"""Numbers as a reader has them: counted, timed, with their sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

NONE = "-"
"""For a number that there is not."""


def known(value: Value | None, words: Callable[[Value], str]) -> str:
    """A number in words, if there is one."""
    return NONE if value is None else words(value)


def seconds(value: float | None) -> str:
    """Four decimals."""
    return NONE if value is None else f"{value:.4f}"


def signed_seconds(value: float | None) -> str:
    """Four decimals with the sign."""
    return NONE if value is None else f"{value + 0.0:+.4f}"


def signed_percent(value: float | None) -> str:
    """`+0.6%`, `-38%`; one decimal below ten percent."""
    if value is None:
        return ""
    rounded = round(value, 1)
    if rounded == 0:
        return "0.0%"
    return f"{rounded:+.1f}%" if abs(rounded) < 10 else f"{value:+.0f}%"


def duration(value_s: float) -> str:
    """`71 s`, `3 min 20 s`, `5 h 12 min`."""
    whole = round(value_s)
    if whole < 60:
        return f"{value_s:.1f} s" if value_s < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def count(n: int, noun: str) -> str:
    """`1 transfer`, `13,860 transfers`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
