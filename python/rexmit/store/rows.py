"""The rows of a run as an engine tells them, and as they are kept.

The columns that an engine tells are made in Rust (`crates/plan/src/columns.rs`), whichever engine
it is. What the campaign knows of a cell anyhow (its network, its client, …) an engine does not say:
`Column.known`.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def whole(columns: tuple[Column, ...], rows: pl.DataFrame, known: Knowledge) -> pl.DataFrame:
    """The table of rows that were told, with what is known of all of them."""
    import polars as pl

    types = polars_schema(columns)
    return rows.select(
        pl.lit(known[column.name], dtype=types[column.name]).alias(column.name)
        if column.known
        else column.name
        for column in columns
    )
