"""The tables of a capture in memory, for captures that are known to be small."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import polars as pl

from rexmit.tracing.options import Analysis
from rexmit.tracing.source import Core, Stream, batches, empty


class Tables(NamedTuple):
    """What an analysis gives of one capture (`rexmit.store.trace_schema`)."""

    connections: pl.DataFrame
    sides: pl.DataFrame
    retransmissions: pl.DataFrame
    account: pl.DataFrame


def tables(capture: Path, *, timeline: bool = False) -> Tables:
    """What an analysis gives of one capture, without what-if. With a `timeline` the account of time
    has its stretches, not sums.
    """
    return of_source(Core([capture], Analysis(whatif=()), timeline=timeline))


def of_source(stream: Stream) -> Tables:
    """All batches together."""
    parts: dict[str, list[pl.DataFrame]] = {name: [empty(name)] for name in Tables._fields}
    for batch in batches(stream):
        for name, rows in parts.items():
            if name in batch:
                rows.append(batch[name])
    return Tables(*(pl.concat(rows) for rows in parts.values()))
