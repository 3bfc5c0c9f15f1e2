"""Runs that vary random loss or congestion control, and connections of many bursts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.analysis.bursts import cases
from rexmit.store.open_run import open_run

Write = Callable[..., Path]


def one_second(_config: str, _pair: tuple[int, int], _loss: str) -> float:
    """The same time for all."""
    return 1.0


def test_what_varies_sets_cases_apart(write_study: Write) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        second = row["repetition"] % 2 == 1
        return {**row, "line_loss": 0.01 if second else 0.0, "t_total_s": 2.0 if second else 1.0}

    found = cases(open_run(write_study(one_second, change)))
    assert len(found.losses) == 6
    lost = [loss for loss in found.losses if loss.endswith(", 1% random loss")]
    means = [found.of("20-20", "tcp-rto", loss) for loss in lost]
    assert [case.completion.mean_s for case in means if case] == [2.0, 2.0, 2.0]
    kept = [loss for loss in found.losses if loss.endswith(", 0% random loss")]
    assert len(kept) == 3


def test_every_burst_counts_where_there_are_many(write_study: Write) -> None:
    path = write_study(one_second)
    run = open_run(path)
    assert all(case.every is None for case in cases(run).cases.values())
    rows = run.transfers.select("network", "config", "cell", "repetition")
    bursts = [
        rows.with_columns(
            pl.lit(number, pl.Int64).alias("burst"),
            pl.lit(number / 100.0).alias("completion_s"),
            pl.lit(0.0).alias("t_start_s"),
            pl.lit(4_000, pl.Int64).alias("bytes"),
            pl.lit(3, pl.Int64).alias("packets"),
            pl.lit("3 0").alias("path_packets"),
        )
        for number in range(1, 101)
    ]
    pl.concat(bursts).write_parquet(path / "bursts.parquet")
    run.scenario["workload"]["bursts"] = 100
    every = cases(run).of("20-20", "tcp-rto", "path 1 burst 2 data -1")
    assert every is not None
    assert every.every is not None
    # Eight connections of a hundred each.
    assert (every.every.n, every.every.drawn) == (800, 8)
    assert every.every.percentile(0.5) == pytest.approx(0.505)
    assert every.every.percentile(0.99) == pytest.approx(0.99, abs=0.01)
    assert max(every.every.values) == 1.0
