"""What is kept of a check, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import rexmit
from rexmit.errors import UserError
from rexmit.whatif.calibration import MEASURED, Calibration, Error, load, save
from rexmit.whatif.settings import expanded
from rexmit_validate.whatif.check import errors
from rexmit_validate.whatif.transfers import usual

LEAST = 300
"""Transfers of each stack and setting."""


def _row(base: str, setting: str, n: int, median: float, p95: float) -> dict[str, object]:
    return {"base": base, "setting": setting, "n": n, "median": median, "p95": p95, "wrong": 0.1}


MADE = Calibration(
    "2026-11-20T16:00:00+00:00",
    "1.0",
    "model",
    1,
    [
        _row("linux-6.12", "k=2", 10, 0.01, 0.1),
        _row("linux-2.4", "k=2", 30, 0.03, 0.05),
        _row("linux-6.12", "k=3", 20, 0.04, 0.2),
        _row("linux-6.12", "no-tlp", 5, 0.2, 0.3),
    ],
)


def test_an_error_is_that_of_the_setting_and_else_of_its_kind() -> None:
    for setting, of, n, median, p95 in (
        ("k=2", "k=2", 40, 0.025, 0.1),
        ("k=6", "k", 60, 0.03, 0.2),
    ):
        error = MADE.error_of(setting)
        assert error is not None
        assert (error.setting, error.n, error.p95) == (of, n, p95)
        assert error.median == pytest.approx(median)
    assert MADE.error_of("tlp") == Error("tlp", 5, 0.2, 0.3, 0.1)
    assert MADE.error_of("d=2") is None


def test_it_is_kept_for_the_same_program_and_else_the_package_has_one(tmp_path: Path) -> None:
    path = save(MADE, tmp_path / "deep" / "whatif.json")
    assert load("1.0", path) == MADE
    ours = load("1.1", path)
    assert ours is not None
    assert load("1.0", tmp_path / "nothing") == ours
    path.write_text("[]", encoding="utf-8")
    assert load("1.0", path) == ours


def test_the_package_has_errors_of_every_stack_and_setting_that_is_tried() -> None:
    ours = load("")
    assert ours is not None
    # One's own is checked when it is loaded.
    assert load(ours.program, MEASURED) == ours
    rows = {(row["base"], row["setting"]): row for row in ours.rows}
    for base in usual():
        for setting in base.settings:
            # One that changes nothing, and is predicted to change nothing, has no row.
            row = rows.get((base.name, setting), {"transfers": LEAST, "n": 0})
            assert row["transfers"] >= LEAST
            assert row["n"] <= row["transfers"]
    assert all(ours.error_of(setting) for setting in expanded(["default"]))
    assert sum(ours.error_of(setting) is not None for setting in expanded(["grid"])) == 720


def test_errors_are_relative_to_durations_and_leave_out_what_never_changes() -> None:
    rows = pl.DataFrame(
        {
            "base": "b",
            "setting": "k=2",
            "predicted_s": [-0.2, 0.0, 0.3, 0.0],
            "actual_s": [-0.1, 0.0, 0.3, 0.2],
            "duration_s": [1.0, 1.0, 1.0, 0.5],
        }
    )
    (row,) = errors(rows)
    assert (row["n"], row["transfers"], row["wrong"], row["not_predicted"]) == (3, 4, 0, 0)
    assert row["predicted_s"] == pytest.approx(0.1 / 3)
    assert row["median"] == pytest.approx(0.1)
    assert row["bias"] == pytest.approx(-0.1)
    assert row["p95"] == pytest.approx(0.37)
    (row,) = errors(rows.with_columns(pl.Series("actual_s", [0.1, 0.0, 0.3, 0.2])))
    assert row["wrong"] == pytest.approx(1 / 3)


def test_what_was_not_predicted_is_counted_and_is_no_prediction_of_nothing() -> None:
    rows = pl.DataFrame(
        {
            "base": "b",
            "setting": ["k=2", "k=2", "k=2", "d=4"],
            "predicted_s": [-0.2, None, None, None],
            "actual_s": [-0.1, 0.9, 0.0, 0.9],
            "duration_s": 1.0,
        }
    )
    (row,) = errors(rows)
    assert (row["setting"], row["n"], row["not_predicted"], row["transfers"]) == ("k=2", 1, 1, 3)
    assert row["actual_s"] == pytest.approx(-0.1)
    assert row["p95"] == pytest.approx(0.1)


def test_a_check_is_not_kept_where_something_else_is(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("a trace of days")
    with pytest.raises(UserError, match="there already and not empty"):
        rexmit.check_whatif(stack="linux-3.10", settings=["no-tlp"], out=tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["trace.json"]
