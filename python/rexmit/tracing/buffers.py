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
    """The columns of one table. The first has a value for each row; another with a single value has
    it in all rows. The buffers may go afterwards.
    """
    made = [_series(*column) for column in columns]
    rows = len(made[0]) if made else 0
    return pl.DataFrame([one if len(one) == rows else one.new_from_index(0, rows) for one in made])


def _series(name: str, kind: str, values: bytes, more: bytes | str | None) -> pl.Series:
    if kind == "integer":
        made = pl.Series(name, np.frombuffer(values, np.int64))
        if isinstance(more, bytes) and b"\0" in more:
            made = made.set(pl.Series(np.frombuffer(more, np.uint8) == 0), None)
        return made
    if kind == "number":
        numbers = np.frombuffer(values, np.float64)
        null = np.isnan(numbers)
        if null.all():
            return pl.Series(name, [None], dtype=pl.Float64).new_from_index(0, len(numbers))
        made = pl.Series(name, numbers)
        return made.fill_nan(None) if null.any() else made
    if kind == "boolean":
        return pl.Series(name, np.frombuffer(values, np.uint8) != 0)
    if kind == "text" and isinstance(more, str):
        lines = pl.Series(name, more.split("\n")[:-1], dtype=pl.String)
        places = pl.Series(np.frombuffer(values, np.int32))
        return lines.gather(places.set(places < 0, None))
    raise ValueError(f"column {name} has an unknown kind: {kind}")
