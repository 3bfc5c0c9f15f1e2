"""Reading the JSON files that describe what lies beside them: strictly, with a reason for each no.

What is read may have been written by another version, edited by hand or damaged on the disk. So a
number is finite, a text is text, and nothing is nested deeper than any file of ours: what passes
here makes no trouble further on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

Check = Callable[[object, str], None]
"""Raises ValueError for a value that is none of its kind; the text says where it stands."""

DEEPEST: Final = 40
"""Lists and mappings within each other."""

_LARGEST_BYTES: Final = 256_000_000

_HALF: Final = re.compile("[\ud800-\udfff]")


def read(path: Path) -> dict[str, Any]:
    """The mapping in a file. Raises OSError, and ValueError for anything else than one."""
    size = path.stat().st_size
    if size > _LARGEST_BYTES:
        raise ValueError(f"it has {size:,} bytes")
    data = loads(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict):
        raise ValueError("it holds no mapping")
    return data


def loads(text: str) -> Any:  # noqa: ANN401 - any JSON
    """What a text says. Raises ValueError where it is not JSON as RFC 8259 has it, with numbers
    that can be reckoned with, or is nested too deep."""
    try:
        data = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    level = [data]
    for _ in range(DEEPEST):
        level = [entry for value in level for entry in _entries(value)]
        if not level:
            return data
    raise ValueError("it is nested too deep")


def _entries(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


def _is(kind: str, *, holds: bool, where: str) -> None:
    if not holds:
        raise ValueError(f"{where} must be {kind}")


def text(value: object, where: str) -> None:
    """Any text that a terminal shows in one piece: no half of a pair, which JSON can write."""
    fits = isinstance(value, str) and (value.isascii() or not _HALF.search(value))
    _is("text", holds=fits and "\0" not in str(value), where=where)


def flag(value: object, where: str) -> None:
    """True or false."""
    _is("true or false", holds=isinstance(value, bool), where=where)


def whole(least: int = 0, most: int = 2**63 - 1) -> Check:
    """A whole number in these bounds."""

    def check(value: object, where: str) -> None:
        fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        _is(f"a whole number, {least} to {most}", holds=fits, where=where)

    return check


def number(least: float = 0.0, most: float = 1e15) -> Check:
    """A number in these bounds."""

    def check(value: object, where: str) -> None:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        fits = real and least <= value <= most  # type: ignore[operator]
        _is(f"a number, {least:g} to {most:g}", holds=fits, where=where)

    return check


def one_of(*values: object) -> Check:
    """One of these."""

    def check(value: object, where: str) -> None:
        fits = any(value == one and type(value) is type(one) for one in values)
        _is(" or ".join(map(str, values)), holds=fits, where=where)

    return check


def either(*checks: Check) -> Check:
    """What one of these takes; the last one says what is wrong."""

    def check(value: object, where: str) -> None:
        for one in checks[:-1]:
            try:
                return one(value, where)
            except ValueError:
                pass
        return checks[-1](value, where)

    return check


def nothing(value: object, where: str) -> None:
    """Null."""
    _is("null", holds=value is None, where=where)


def anything(value: object, where: str) -> None:
    """Any value."""


def list_of(each: Check) -> Check:
    """A list of such."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, list):
            raise ValueError(f"{where} must be a list")
        for index, entry in enumerate(value):
            each(entry, f"{where}[{index}]")

    return check


def mapping_of(each: Check) -> Check:
    """A mapping from any names to such."""

    def check(value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} must be a mapping")
        for name, entry in value.items():
            each(entry, f"{where}.{name}" if where else str(name))

    return check


def shape(checks: Mapping[str, Check], *, needed: tuple[str, ...] = ()) -> Check:
    """A mapping whose entries of these names are such, where they are there, as those that are
    `needed` must be. Names that are not known here are let be: a later version may write more."""

    def check(value: object, where: str) -> None:
        mapping_of(anything)(value, where or "the file")
        assert isinstance(value, dict)  # noqa: S101 - was just checked
        for name in needed:
            if name not in value:
                raise ValueError(f"{f'{where}.' if where else ''}{name} is missing")
        for name, one in checks.items():
            if name in value:
                one(value[name], f"{where}.{name}" if where else name)

    return check
