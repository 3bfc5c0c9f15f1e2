"""Waiting means the same wherever it is said, and no more is said than there was.

docs/reference/glossary.md says what it is.

With REXMIT_CAPTURES, a folder of captures, they are held against it, too.
"""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.real.captures import FOLDER, others

from rexmit.cli import app
from rexmit.tracing.advice import advice
from rexmit.tracing.folder import Trace
from rexmit.tracing.options import Analysis
from rexmit.tracing.run import run
from rexmit.tracing.summary import summary

ROUNDING_S = 1e-6
"""Sums of seconds as floating-point numbers."""


def broken(trace: Trace) -> list[str]:
    """The sentences of the glossary that do not hold of a trace."""
    connections = trace.scan("connections").collect()
    retransmissions = trace.scan("retransmissions").collect()
    whatif = trace.scan("whatif").collect()
    waited = connections.select("connection", "duration_s", "waited_s")
    by_row = retransmissions.group_by("connection").agg(pl.col("waited_s").sum().alias("rows_s"))
    saved = whatif.group_by("connection", "setting").agg(-pl.col("waited_change_s").sum())
    by_mechanism = trace.scan("mechanisms").collect().group_by("connection")
    parts = waited.join(
        by_mechanism.agg(pl.col("waited_s").sum().alias("parts_s")), on="connection", how="left"
    ).select((pl.col("parts_s").fill_null(0.0) - pl.col("waited_s")).abs())
    with_rows = waited.join(by_row, on="connection", how="left").fill_null(0.0)
    rules = {
        "parts sum to the whole": parts.filter(pl.first() > ROUNDING_S),
        "no longer than the connection": waited.filter(
            pl.col("waited_s") > pl.col("duration_s") + ROUNDING_S
        ),
        "only retransmissions are waited for": with_rows.filter(
            pl.col("waited_s") > pl.col("rows_s") + ROUNDING_S
        ),
        "no wait below 0": retransmissions.filter(pl.col("waited_s") < 0),
        "no wait before its data went": retransmissions.filter(
            pl.col("waited_s") > pl.col("detection_s") + ROUNDING_S
        ),
        "no more saved than waited": saved.join(waited, on="connection").filter(
            pl.col("waited_change_s") > pl.col("waited_s") + ROUNDING_S
        ),
    }
    told = [f"{rule}: {rows.height}" for rule, rows in rules.items() if rows.height]
    page, settings = summary(trace), advice(trace)
    whole = page.totals.waited_s
    sums = {
        "header": sum(connections["waited_s"].to_list()),
        "mechanisms": sum(one.waited_s for one in page.mechanisms),
    }
    told += [name for name, part in sums.items() if abs(part - whole) > ROUNDING_S]
    others = {
        "list": sum(one.waited_s for one in page.worst),
        "senders": sum(one.waited_s for one in page.senders),
        "settings": max((one.saved_s for one in settings), default=0.0),
    }
    told += [name for name, part in others.items() if part > whole + ROUNDING_S]
    if len(page.worst) == connections.filter(pl.col("waited_s") > 0).height:
        told += ["whole list"] * (abs(others["list"] - whole) > ROUNDING_S)
    return told


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Connections of the model over networks that lose."""
    out = tmp_path_factory.mktemp("waiting") / "corpus"
    words = ["validate", "synth", "--connections", "150", "--seed", "13", "--out", str(out)]
    assert CliRunner().invoke(app, words, catch_exceptions=False).exit_code == 0
    return out


@pytest.mark.parametrize("point", ["sender", "switch", "receiver"])
def test_of_the_model_s_connections(corpus: Path, tmp_path: Path, point: str) -> None:
    paths = sorted((corpus / "captures").glob(f"*-{point}.pcapng"))
    trace = run(paths, tmp_path / "t", Analysis(jobs=1))
    assert summary(trace).totals.waited_s > 0
    assert broken(trace) == []


@pytest.mark.skipif(FOLDER not in os.environ, reason=f"{FOLDER} names no folder")
def test_of_captures_that_others_made(tmp_path: Path) -> None:
    paths = [path for path in others() if {".pcap", ".pcapng", ".cap"} & set(path.suffixes)]
    assert paths
    traces = (
        (path, run([path], tmp_path / str(n), Analysis(jobs=1))) for n, path in enumerate(paths)
    )
    found = {path.name: broken(trace) for path, trace in traces}
    assert {name: rules for name, rules in found.items() if rules} == {}
