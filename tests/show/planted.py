"""Folders whose tables somebody else wrote: other columns, types and values, with right digests."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import polars as pl
from hypothesis import strategies as st

from rexmit.store import digests

STRANGE: Final[dict[Any, list[Any]]] = {
    pl.Int64: [-1, 0, 2**32, 2**62, -(2**63), 2**63 - 1],
    pl.Float64: [-1.0, 0.0, 1e18, 1e300, -1e300, float("nan"), float("inf"), -float("inf")],
    pl.String: [
        "",
        "x",
        "unknown",
        "\0",
        "\u202e\x1b[31m",
        "a > b",
        "1.2.3.4:1 > [::1]:-1",
        " " * 2000,
    ],
    pl.Boolean: [True, False],
}
TYPES: Final = (
    *(pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Null, pl.Int8, pl.UInt64, pl.Float32),
    *(pl.Binary, pl.Date, pl.Datetime, pl.List(pl.Int64), pl.Struct({"a": pl.Int64})),
    *(pl.Decimal(20, 2), pl.Categorical),
)

Change = Callable[[pl.DataFrame], pl.DataFrame]


def dropped(column: str) -> Change:
    """Without a column."""
    return lambda rows: rows.drop(column)


def retyped(column: str, to: Any) -> Change:  # noqa: ANN401 - a class or a type
    """A column of nulls of another type."""
    return lambda rows: rows.with_columns(pl.lit(None, dtype=to).alias(column))


def valued(column: str, value: object, row: int | None = None) -> Change:
    """A column with another value everywhere, or in one row."""

    def change(rows: pl.DataFrame) -> pl.DataFrame:
        other = pl.lit(value, dtype=rows.schema[column])
        here = pl.lit(True) if row is None else pl.int_range(pl.len()) == row % max(rows.height, 1)
        return rows.with_columns(pl.when(here).then(other).otherwise(column).alias(column))

    return change


@st.composite
def changes(draw: st.DrawFn, rows: pl.DataFrame) -> Change:
    """Something that is done to a table."""
    column = draw(st.sampled_from(rows.columns))
    row = draw(st.one_of(st.none(), st.integers(0, 1000)))
    whole: list[Change] = [
        dropped(column),
        lambda rows: rows.head(0),
        lambda rows: rows.head(rows.height // 2),
        lambda rows: pl.concat([rows, rows]),
        lambda rows: rows.reverse(),
        lambda rows: rows.with_columns(pl.lit(1).alias("number"), pl.lit(1).alias("capture_right")),
    ]
    values = STRANGE[rows.schema[column].base_type()]
    return draw(
        st.one_of(
            st.sampled_from(whole),
            st.sampled_from(TYPES).map(lambda to: retyped(column, to)),
            st.just(valued(column, None, row)),
            st.sampled_from(values).map(lambda value: valued(column, value, row)),
        )
    )


def plant(folder: Path, file: Path, rows: pl.DataFrame) -> None:
    """Writes a table of a folder, and what the folder says of its tables."""
    rows.write_parquet(file)
    digested(folder)


def digested(folder: Path) -> None:
    """Makes a folder say of its tables what they are."""
    (about,) = (one for one in folder.glob("*.json") if one.name in ("run.json", "trace.json"))
    meta = json.loads(about.read_text())
    meta[digests.KEY] = digests.of_tables(folder, meta[digests.KEY])
    about.write_text(json.dumps(meta))


def copied(folder: Path, to: Path) -> Path:
    """A copy that may be planted."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))
