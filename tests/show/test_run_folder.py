"""Opening run folders that are not there, not whole, or not ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rexmit.analysis.overview import overview, overview_data
from rexmit.errors import UserError
from rexmit.store.open_run import open_run

Rows = Callable[..., Any]


def refusal(path: Path) -> UserError:
    with pytest.raises(UserError) as caught:
        open_run(path)
    assert caught.value.hint
    return caught.value


def test_no_such_run(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").what.endswith("none: no such run")


def test_a_file_is_no_run(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    assert "is a file" in refusal(file).what


def test_some_folder_is_no_run(tmp_path: Path) -> None:
    assert "not a run folder" in refusal(tmp_path).what


def test_an_unfinished_run_says_how_to_go_on(row: Rows, write_run: Rows) -> None:
    path = write_run([row()], command="rexmit run x.toml --seed 1")
    (path / "transfers.parquet").unlink()
    (path / "partial").mkdir()
    error = refusal(path)
    assert error.what.endswith("the run is not finished")
    assert f"`rexmit run x.toml --seed 1 --out {path}` continues it" in str(error.hint)


def test_an_unfinished_run_without_a_command(tmp_path: Path) -> None:
    (tmp_path / "partial").mkdir()
    error = refusal(tmp_path)
    assert error.what.endswith("the run is not finished")
    assert f"--out {tmp_path}" in str(error.hint)


@pytest.mark.parametrize("found", [2, "1", 0])
def test_another_format(row: Rows, write_run: Rows, found: object) -> None:
    path = write_run([row()], format=found)
    assert f"format {found}, this program reads format 1" in refusal(path).what


def test_damaged_meta(row: Rows, write_run: Rows) -> None:
    path = write_run([row()])
    (path / "run.json").write_text("{")
    assert "cannot be read" in refusal(path).what


def test_damaged_table(row: Rows, write_run: Rows) -> None:
    path = write_run([row()])
    (path / "transfers.parquet").write_bytes(b"PAR1")
    assert "cannot be read" in refusal(path).what


def test_a_missing_column_is_named(row: Rows, write_run: Rows) -> None:
    path = write_run([row()])
    table = path / "transfers.parquet"
    pl.read_parquet(table).drop("is_tlp").write_parquet(table)
    assert "column is_tlp is missing" in refusal(path).what


def test_a_run_in_which_all_cells_failed(write_run: Rows) -> None:
    failed = [{"cell": 0, "label": "a", "message": "it hung", "console_tail": ""}]
    error = refusal(write_run([], failed_cells=failed))
    assert error.what.endswith("the run has no transfer")
    assert error.hint == "1 cell failed; the first: it hung"


def test_missing_retransmissions(row: Rows, write_run: Rows) -> None:
    path = write_run([row()])
    (path / "retransmissions.parquet").unlink()
    with pytest.raises(UserError, match="not there"):
        open_run(path).retransmissions()


def test_overview_of_everything(row: Rows, write_run: Rows) -> None:
    view = overview(
        open_run(
            write_run(
                [row()],
                ignored_settings=[{"config": "er", "setting": "s", "why": "w"}],
                failed_cells=[
                    {"cell": 3, "label": "l", "message": "m", "console_tail": ["a", "b"]}
                ],
                warnings=["careful"],
            )
        )
    )
    assert (view.runner.kernel, view.runner.hz, view.seeds, view.transfers) == (
        "6.12.117",
        250,
        "seed 1",
        1,
    )
    assert view.ignored[0].setting == "s"
    assert view.failed[0].console_tail == "a\nb"
    assert view.warnings == ("careful",)
    assert view.command == "rexmit run scenarios/test.toml --seed 1"


def test_overview_of_next_to_nothing(row: Rows, write_run: Rows) -> None:
    path = write_run([row()])
    (path / "run.json").write_text(json.dumps({"format": 1}))
    view = overview(open_run(path))
    assert (view.runner.words, view.failed, view.command) == ("kernel not recorded", (), None)


def test_overview_of_a_model(row: Rows, write_run: Rows) -> None:
    old, new = (
        {"stack": name, "settings": {"hz": hz, "min_rto": "200ms"}}
        for name, hz in (("linux-3.10", "250"), ("linux-6.12", "1000"))
    )
    model = {"version": "0.1.0", "hash": "1", "stacks": {"er": old, "tlp": old}}
    path = write_run([row()], engine="model", kernel=None, model=model)
    assert overview(open_run(path)).runner.words == "model of linux-3.10, HZ 250"
    model["stacks"] = {"er": old, "tlp": new}
    path = write_run([row()], engine="model", kernel=None, model=model)
    view = overview(open_run(path))
    assert view.runner.words == "model of linux-3.10, linux-6.12"
    assert view.runner.differing == "er: linux-3.10, tlp: linux-6.12"
    assert overview_data(view)["stacks"] == {"er": "linux-3.10", "tlp": "linux-6.12"}
