"""How long or how large: `60s`, `15min`, `1h`, `7d`, `500MB`, `20GB`, or a plain number."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from rexmit.errors import UserError

SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400}
"""Seconds in a unit of time."""

BYTES: Final = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
"""Bytes in a unit of size."""


@dataclass(frozen=True)
class Amount:
    """One of the three: a time in seconds, a size in bytes, a number of things."""

    seconds: float | None = None
    bytes: int | None = None
    number: int | None = None


def amount(where: str, word: str) -> Amount:
    """What a word says. `where` is the option that has it. Raises UserError (usage)."""
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([A-Za-z]*)", word.strip())
    value = float(match[1]) if match else 0.0
    if match and value > 0:
        unit = match[2]
        if unit in SECONDS:
            return Amount(seconds=value * SECONDS[unit])
        if unit in BYTES:
            return Amount(bytes=math.ceil(value * BYTES[unit]))
        if not unit and value.is_integer():
            return Amount(number=int(value))
    raise UserError(
        f"{where} {word}: no time, size or number",
        f"a number above 0, with {', '.join(SECONDS)} or {', '.join(BYTES)}: 1h, 500MB",
        usage=True,
    )


def seconds(where: str, word: str) -> float:
    """A time in seconds. Raises UserError (usage)."""
    limit = amount(where, word).seconds
    if limit is None:
        raise UserError(f"{where} {word}: no time", "as in 60s, 15min, 1h, 7d", usage=True)
    return limit
