"""What earlier versions called things: the one place that reads their tables and captures."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

COLUMNS: Final = {"resends": "retransmissions", "needless_resends": "spurious_retransmissions"}
"""Names of columns, and what they are now."""

TABLES: Final = {"retransmissions": "resends"}
"""Tables of a corpus of known retransmissions, and what they were."""

QUANTITIES: Final = {"resends": "retransmissions", "needless": "spurious"}
"""Quantities of `rexmit diff`, and what they are now."""

RETRANSMISSION_COMMENTS: Final = frozenset({"retransmission", "resend"})
"""The word in a packet's comment that says that the packet is a retransmission."""


def renamed(frame: pl.DataFrame) -> pl.DataFrame:
    """A table, its columns named as they are now."""
    old = {name: new for name, new in COLUMNS.items() if new not in frame.columns}
    return frame.rename(old, strict=False)


def corpus_table(folder: Path, name: str) -> Path:
    """The file of a table of a corpus."""
    file = folder / f"{name}.parquet"
    if name in TABLES and not file.exists():
        older = folder / f"{TABLES[name]}.parquet"
        if older.exists():
            return older
    return file
