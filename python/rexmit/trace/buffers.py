"""Columns of `rexmit._core` as frames: a few buffers a column, no object for each value."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

Buffers = tuple[str, str, bytes, bytes | str | None]
"""Name, kind, values and what belongs to them.

`integer`: 64 bits, with a byte each that is 0 for null, or None; `number`: 64 bits, NaN is null;
`boolean`: a byte each; `text`: 32 bits each that count the lines which belong to them, -1 is null.
"""


def frame(columns: Iterable[Buffers]) -> pl.DataFrame:
    """The columns of one table. The buffers may go afterwards."""
    return pl.DataFrame([_series(*column) for column in columns])


def _series(name: str, kind: str, values: bytes, more: bytes | str | None) -> pl.Series:
    if kind == "integer":
        made = pl.Series(name, np.frombuffer(values, np.int64))
        if isinstance(more, bytes):
            made = made.set(pl.Series(np.frombuffer(more, np.uint8) == 0), None)
        return made
    if kind == "number":
        return pl.Series(name, np.frombuffer(values, np.float64)).fill_nan(None)
    if kind == "boolean":
        return pl.Series(name, np.frombuffer(values, np.uint8) != 0)
    if kind == "text" and isinstance(more, str):
        lines = pl.Series(name, more.split("\n")[:-1], dtype=pl.String)
        places = pl.Series(np.frombuffer(values, np.int32))
        return lines.gather(places.set(places < 0, None))
    raise ValueError(f"column {name} has an unknown kind: {kind}")
