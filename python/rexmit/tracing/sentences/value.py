"""What sentences say of numbers of connections, and how often something was."""

from __future__ import annotations

from rexmit.result.sentence import Sentence
from rexmit.tracing.words import share

__all__ = ["Sentence", "connections", "times"]


def connections(number: int, every: int) -> str:
    """`2 of 8 connections (25.0%)`, or that it is all of them."""
    if number == every:
        return {1: "the only connection", 2: "both connections"}.get(
            every, f"all {every:,} connections"
        )
    return f"{number:,} of {every:,} connections ({share(number, every)})"


def times(number: int) -> str:
    """`once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
