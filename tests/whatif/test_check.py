"""Predictions for a few transfers of the model, held against the transfers under the setting."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rexmit_validate.whatif import transfers
from rexmit_validate.whatif.check import check, errors


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "PATTERNS", ("none", "data -1", "data 2"))
    monkeypatch.setattr(transfers, "SEGMENTS", (12,))
    monkeypatch.setattr(transfers, "NETWORKS", {"80 ms": transfers.NETWORKS["80 ms"]})


@pytest.mark.usefixtures("few")
def test_a_smaller_minimum_is_predicted_to_the_tick(tmp_path: Path) -> None:
    base = transfers.Base("linux-2.4", ("min_rto=100ms", "min_rto=400ms"))
    rows = check(base, tmp_path / "run", seed=1, kernel=None, jobs=2)
    assert rows.height == 2 * 3
    without = rows.filter(pl.col("loss_pattern") == "none")
    assert without["predicted_s"].to_list() == [0.0, 0.0]
    assert without["actual_s"].to_list() == pytest.approx([0.0, 0.0], abs=0.001)
    tail = rows.filter(pl.col("loss_pattern") == "data -1")
    assert tail["predicted_s"].to_list() == pytest.approx(tail["actual_s"].to_list(), abs=0.011)
    shorter, longer = tail["actual_s"]
    assert shorter < -0.03 < 0.15 < longer
    assert {row["setting"] for row in errors(rows)} == {"min_rto=100ms", "min_rto=400ms"}


def test_nothing_is_predicted_where_a_cause_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A capture of one connection shows a timer of less than 200 ms once: it may be none."""
    monkeypatch.setattr(transfers, "PATTERNS", ("none", "data 5 5#2"))
    monkeypatch.setattr(transfers, "SEGMENTS", (12,))
    monkeypatch.setattr(transfers, "NETWORKS", {"10 ms": transfers.NETWORKS["10 ms"]})
    base = transfers.Base("windows-xp-unc2007", ("min_rto=400ms",))
    rows = check(base, tmp_path / "run", seed=1, kernel=None, jobs=2)
    predicted = dict(rows.select("loss_pattern", "predicted_s").iter_rows())
    assert predicted == {"none": 0.0, "data 5 5#2": None}
    assert rows["actual_s"].max() == pytest.approx(0.2)
