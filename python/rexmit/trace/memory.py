"""The tables of a capture in memory, for captures that are known to be small."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from rexmit.score.report import Tables
from rexmit.trace.source import Source, empty, open_source


def tables(capture: Path) -> Tables:
    """Connections and resends of one capture, without what other settings would have done."""
    return of_source(open_source([capture], whatif=()))


def of_source(source: Source) -> Tables:
    """All batches together."""
    parts: dict[str, list[pl.DataFrame]] = {
        name: [empty(name)] for name in ("connections", "retransmissions")
    }
    for batch in source.batches():
        for name, rows in parts.items():
            if name in batch:
                rows.append(batch[name])
    return Tables(*(pl.concat(rows) for rows in parts.values()))
