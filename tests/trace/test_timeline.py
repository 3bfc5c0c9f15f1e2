"""The account of time stretch by stretch: the same time as in the sums, one after the other."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rexmit.tracing.memory import tables

CAPTURES = sorted((Path(__file__).parents[1] / "real" / "captures").glob("*.pcap"))
LINE = ["connection", "direction"]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: path.stem)
def test_stretches_follow_one_another_and_add_up_to_the_sums(capture: Path) -> None:
    sums = tables(capture).account.sort(*LINE, "owner")
    stretches = tables(capture, timeline=True).account
    added = stretches.group_by(*LINE, "owner", "asked").agg(
        pl.col("length_ns", "stretches", "slow", "other_ns").sum(),
        pl.col("longest_ns").max(),
    )
    columns = added.columns
    assert added.sort(*LINE, "owner").equals(sums.select(columns))
    begins = stretches.select(*LINE, "evidence_ns", at=pl.col("evidence_ns") - pl.col("length_ns"))
    before = begins.with_columns(pl.col("evidence_ns").shift().over(LINE).alias("before"))
    assert before.filter(pl.col("before") != pl.col("at")).is_empty()
