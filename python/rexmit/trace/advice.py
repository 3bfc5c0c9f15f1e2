"""Which other setting would have helped most in this capture, and what it would have cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from rexmit.store.trace_schema import SMART_CONFIG
from rexmit.trace.folder import Trace

SHOWN: Final = 6


@dataclass(frozen=True)
class Advice:
    """One setting over all connections. `saved_s` is the sum of what connections would have been
    shorter, negative where they would have been longer; `needless` the resends that it would have
    caused for nothing, `avoided` those that it would have spared; `alone`: it changes one thing.
    """

    setting: str
    alone: bool
    saved_s: float
    shorter: int
    longer: int
    avoided: int
    needless: int
    to_fr: int
    to_rto: int


def advice(trace: Trace, shown: int = SHOWN) -> tuple[Advice, ...]:
    """The settings that save most, the best first; empty where none would have saved anything.

    Of those that change several things only the best stands among them.
    """
    rows = (
        trace.scan("whatif")
        .group_by("setting")
        .agg(
            (-pl.col("change_s")).sum().alias("saved_s"),
            (pl.col("change_s") < 0).sum().alias("shorter"),
            (pl.col("change_s") > 0).sum().alias("longer"),
            pl.col("avoided").sum(),
            (pl.col("spurious_rto_caused") + pl.col("spurious_fr_caused")).sum().alias("needless"),
            pl.col("rto_to_fr").sum().alias("to_fr"),
            pl.col("fr_to_rto").sum().alias("to_rto"),
        )
        .filter(pl.col("saved_s") > 0)
        .with_columns(
            (~pl.col("setting").str.contains(",") & (pl.col("setting") != SMART_CONFIG)).alias(
                "alone"
            )
        )
        .sort("saved_s", "setting", descending=[True, False])
        .collect()
    )
    every = [Advice(**row) for row in rows.to_dicts()]
    together = [one for one in every if not one.alone][:1]
    alone = [one for one in every if one.alone][: shown - len(together)]
    return tuple(sorted([*together, *alone], key=lambda one: -one.saved_s))
