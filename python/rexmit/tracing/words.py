"""Times, shares and sizes as the page of a trace writes them, each in one way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from rexmit.wording import NONE, duration

_DAY_S: Final = 86_400

_NO_DATE_S: Final = 1e8
"""A clock with an earlier time counts from the start of its host, not from 1970."""


def span(value_s: float) -> str:
    """A length of time in the unit that suits it: `<0.1 ms`, `277 ms`, `1.25 s`, `3 min 20 s`."""
    if value_s <= 0:
        return "0 s"
    if value_s < 0.00005:
        return "<0.1 ms"
    if value_s < 0.00995:
        return f"{value_s * 1000:.1f} ms"
    if value_s < 0.9995:
        return f"{value_s * 1000:.0f} ms"
    if value_s < 9.995:
        return f"{value_s:.2f} s"
    if value_s < 2 * _DAY_S:
        return duration(value_s)
    return f"{value_s / _DAY_S:,.0f} days"


def share(part: float, whole: float) -> str:
    """A part in per cent, never rounded to nothing or to all."""
    if not whole:
        return NONE
    percent = 100 * part / whole
    if 0 < percent < 0.05:
        return "<0.1%"
    if 99.95 <= percent < 100:
        return ">99.9%"
    return f"{percent:.1f}%"


def size(value: int) -> str:
    """Bytes, in steps of 1,000."""
    number = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"


def rate(bits_per_s: float) -> str:
    """Bits a second, in steps of 1,000."""
    number = bits_per_s
    for unit in ("bit/s", "kbit/s", "Mbit/s"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bit/s" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} Gbit/s"


def period(start_s: float, end_s: float) -> str:
    """From when to when, in UTC, or the one second; nothing where the clock shows no date."""
    if start_s < _NO_DATE_S:
        return ""
    try:
        began, ended = (datetime.fromtimestamp(time, tz=UTC) for time in (start_s, end_s))
    except (OverflowError, ValueError, OSError):
        return ""
    if int(start_s) == int(end_s):
        return f"{began:%Y-%m-%d %H:%M:%S} UTC"
    form = "%H:%M:%S" if began.date() == ended.date() else "%Y-%m-%d %H:%M:%S"
    return f"{began:%Y-%m-%d %H:%M:%S} to {ended:{form}} UTC"


def listed(words: list[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
