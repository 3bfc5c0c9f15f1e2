"""The rows of a run as an engine tells them, and as they are kept.

The columns that an engine tells are made in Rust (`crates/plan/src/columns.rs`), whichever engine
it is. What the campaign knows of a cell anyhow (its network, its client, …) an engine does not say:
`Column.known`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from rexmit.store.schema import (
    BURSTS,
    RETRANSMISSIONS,
    SUBFLOWS,
    TRANSFERS,
    Column,
    polars_schema,
)

if TYPE_CHECKING:
    import polars as pl

Knowledge = Mapping[str, Any]
"""What whoever asks for rows knows of all of them: the columns that are not told, by name."""

TABLES: Final = {
    "transfers": TRANSFERS,
    "retransmissions": RETRANSMISSIONS,
    "bursts": BURSTS,
    "subflows": SUBFLOWS,
}
"""The columns of every table of a run."""

EVENTS: Final = frozenset({"transfer", "retransmission", "burst", "subflow"})
"""The events that are rows of these tables."""


def told(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns that an engine tells."""
    return tuple(column for column in columns if not column.known)


def whole(
    columns: tuple[Column, ...], parts: Sequence[pl.DataFrame], known: Sequence[Knowledge]
) -> pl.DataFrame:
    """The table of rows that were told, in parts, with what is known of all rows of each part."""
    import polars as pl

    types = polars_schema(columns)
    filled = [(rows, row) for rows, row in zip(parts, known, strict=True) if rows.height]
    if not filled:
        return pl.DataFrame(schema=types)
    names = [one.name for one in columns if one.known]
    each = pl.DataFrame(
        [[row[name] for name in names] for _, row in filled],
        {name: types[name] for name in names},
        orient="row",
    )
    heights = pl.Series([rows.height for rows, _ in filled])
    of_rows = each.select(pl.all().repeat_by(heights).explode())
    return pl.concat([rows for rows, _ in filled]).hstack(of_rows).select(list(types))
