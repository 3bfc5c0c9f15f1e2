"""Tables as compressed columns, which `assets/columns.js` reads.

A pack is gzip over: the length of a header (4 bytes, little-endian), the header (JSON), and behind
it, each begun at a multiple of 8, the columns' bytes. Numbers of several bytes stand byte by byte:
first the lowest byte of all rows, then the next, which compresses better. gzip's checksum finds
what was damaged on the way.
"""

from __future__ import annotations

import gzip
import json
import math
import struct
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import polars as pl

from rexmit import escaping

_LEVEL: Final = 6
"""Of gzip: more takes three times as long for a hundredth of the size."""

_FEW: Final = 2
"""Texts have a dictionary where each occurs so often on average."""

_WHOLE: Final = {
    "u1": ("B", 0, (1 << 8) - 1),
    "u2": ("H", 0, (1 << 16) - 1),
    "i4": ("i", -(1 << 31), (1 << 31) - 1),
    "u4": ("I", 0, (1 << 32) - 1),
}
"""Integers by the names that the browser knows: Python's code of the type, least, most."""


def packed(tables: Mapping[str, pl.DataFrame], about: object = None) -> bytes:
    """The tables, and plain data about them, packed. Floats that are null or no number come out as
    null, integers beyond 2^53 as the nearest float.
    """
    body = bytearray()
    heads = {
        name: {
            "rows": frame.height,
            "columns": [_column(series, body) for series in frame.get_columns()],
        }
        for name, frame in tables.items()
    }
    header = json.dumps(
        {"tables": heads, "about": _plain(about)}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    start = struct.pack("<I", len(header)) + header
    # No time of day: the same tables give the same bytes.
    return gzip.compress(_aligned(start) + bytes(body), compresslevel=_LEVEL, mtime=0)


class Lines(str):
    """A text of several lines; what is in each of them is `shown`."""

    __slots__ = ()


def _plain(data: Any) -> Any:  # noqa: ANN401 - JSON
    """Plain data, its texts as they are to be shown."""
    if isinstance(data, Lines):
        return escaping.shown_lines(data)
    if isinstance(data, str):
        return escaping.shown(data)
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(one) for one in data] if isinstance(data, list | tuple) else data


def _aligned(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _put(code: str, values: Iterable[Any], body: bytearray) -> int:
    """Appends values of a type of `array`'s, byte by byte; where they begin."""
    numbers = array(code, values)
    raw, wide = numbers.tobytes(), numbers.itemsize
    return _append(b"".join(raw[i::wide] for i in range(wide)), body)


def _append(data: bytes, body: bytearray) -> int:
    at = len(body)
    body += _aligned(data)
    return at


def _column(series: pl.Series, body: bytearray) -> dict[str, Any]:
    # Python's own lists: a page has thousands of tables of a few rows, and for each an expression
    # takes longer than its rows.
    if series.dtype == pl.Boolean:
        values = [2 if value is None else value for value in series.to_list()]
        return {"name": series.name, "kind": "boolean", "type": "u1", "at": _put("B", values, body)}
    if series.dtype.is_numeric():
        kind, at = _numbers(series, body)
        return {"name": series.name, "kind": "number", "type": kind, "at": at}
    return _texts(series.name, series.cast(pl.String).to_list(), body)


def _numbers(series: pl.Series, body: bytearray) -> tuple[str, int]:
    """Appends numbers in the narrowest type that has them all; its name, and where they begin."""
    if not (series.dtype.is_float() or series.null_count() or series.is_empty()):
        least, most = int(series.min()), int(series.max())  # type: ignore[arg-type]
        for kind, (code, low, high) in _WHOLE.items():
            if least >= low and most <= high:
                return kind, _put(code, series.to_list(), body)
    return "f8", _put("d", [math.nan if one is None else one for one in series.to_list()], body)


def shown_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with its texts as they are to be shown."""
    hidden = f"[{escaping.HIDDEN}]"
    return frame.with_columns(
        series.map_elements(escaping.shown, return_dtype=pl.String)
        for series in frame
        if series.dtype == pl.String and series.str.contains(hidden).any()
    )


def _texts(name: str, texts: Sequence[str | None], body: bytearray) -> dict[str, Any]:
    # An empty text says nothing, either.
    shown = {text: escaping.shown(text) for text in set(texts) if text}
    values = sorted(set(shown.values()))
    if len(values) * _FEW > len(texts) and len(values) > 256:
        return _long_texts(name, [shown[text] if text else "" for text in texts], body)
    # 0 stands for null.
    numbers = {text: number for number, text in enumerate(values, 1)}
    places = {text: numbers[value] for text, value in shown.items()}
    kind = next(one for one in ("u1", "u2", "u4") if len(values) <= _WHOLE[one][2])
    return {
        "name": name,
        "kind": "words",
        "type": kind,
        "at": _put(_WHOLE[kind][0], [places[text] if text else 0 for text in texts], body),
        "values": values,
    }


def _long_texts(name: str, texts: Sequence[str], body: bytearray) -> dict[str, Any]:
    """All texts in one, and where each ends in it, in UTF-16 code units as the browser counts."""
    text = "".join(texts).encode()
    units = (len(one) if one.isascii() else len(one.encode("utf-16-le")) // 2 for one in texts)
    return {
        "name": name,
        "kind": "texts",
        "type": "u4",
        "at": _put("I", accumulate(units), body),
        "text_at": _append(text, body),
        "text_bytes": len(text),
    }
