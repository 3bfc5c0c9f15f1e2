"""Runs that vary random loss or congestion control, and connections of many bursts."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.analysis.bursts import cases
from rexmit.library.diff import diff
from rexmit.present.bursts import case_blocks
from rexmit.store.open_run import Run, open_run

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
    means = [found.case("20-20", "tcp-rto", loss) for loss in lost]
    assert [case.completion.mean_s for case in means if case] == [2.0, 2.0, 2.0]
    kept = [loss for loss in found.losses if loss.endswith(", 0% random loss")]
    assert len(kept) == 3


def with_many(path: Path, keep: pl.Expr | None = None) -> Run:
    """The run with a hundred bursts a connection, of 10 ms to 1 s; `keep` chooses connections that
    have them.
    """
    run = open_run(path)
    rows = run.transfers if keep is None else run.transfers.filter(keep)
    bursts = [
        rows.select("network", "config", "cell", "repetition").with_columns(
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
    return run


PLACE = ("20-20", "tcp-rto", "path 1 burst 2 data -1")


def test_every_burst_counts_where_there_are_many(write_study: Write) -> None:
    path = write_study(one_second)
    assert all(case.every is None for case in cases(open_run(path)).cases.values())
    every = cases(with_many(path)).case(*PLACE)
    assert every is not None
    assert every.every is not None
    # Eight connections of a hundred each.
    assert (every.every.n, every.every.drawn) == (800, 8)
    assert every.every.percentile(0.5) == pytest.approx(0.505)
    assert every.every.percentile(0.99) == pytest.approx(0.99, abs=0.01)
    assert max(every.every.values) == 1.0


def test_bursts_of_a_connection_that_never_began_are_the_longest(write_study: Write) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "complete": row["repetition"] != 7}

    found = cases(with_many(write_study(one_second, change), pl.col("complete")))
    case = found.case(*PLACE)
    assert case is not None
    assert case.every is not None
    assert (case.every.n, case.every.endless) == (700, 100)
    assert case.every.mean_s == pytest.approx(0.505)
    assert case.every.percentile(0.99) == math.inf
    text = "\n".join(map(str, case_blocks(found)))
    assert f"of which {100 * len(found.cases):,} never ended" in text


def test_every_burst_is_compared_when_asked(write_study: Write) -> None:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "complete": row["repetition"] != 7}

    whole = with_many(write_study(one_second))
    part = with_many(write_study(one_second, change, "part"), pl.col("complete"))
    found = diff(whole, part, metrics=["burst"], cells={"network": "20-20", "config": "tcp-rto"})
    for cell in found.cells:
        one = cell.difference("burst")
        assert (one.a.n, one.b.n, one.b.endless) == (800, 700, 100)
        assert one.a.mean_s == pytest.approx(0.505)
        assert one.b.percentile(0.95) == math.inf
        assert not one.beyond
