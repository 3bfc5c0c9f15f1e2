"""How far departures from a bench move Table 4."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.scenario import find, unknowns
from rexmit.validate.sensitivity.departures import Cell, Row, Sensitivity

CELLS = (Cell("mobile", "er", "t_recover"), Cell("mobile", "er", "t_total"))


def test_near_counts_by_the_measure_s_own_margin() -> None:
    row = Row("x", (7.0, 7.0))
    assert row.near(CELLS, "t_recover") == 0
    assert row.near(CELLS, "t_total") == 1


def test_moved_is_against_the_first_row() -> None:
    table = Sensitivity(CELLS, (Row("base", (10.0, None)), Row("other", (-5.0, 3.0))))
    assert table.moved(table.rows[1]) == (-15.0, None)


def test_the_bench_s_unknowns_can_be_read() -> None:
    base = find("tlp-2013-bench")
    found = unknowns.load(base.parent / "unknowns" / base.name)
    assert "no timestamps" in [unknown.name for unknown in found.unknown]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format = 1", "unknown"),
        ('format = 1\n[[unknown]]\nname = "a"\nset = []', "set"),
        ('format = 1\n[[unknown]]\nname = "a"\nset = ["x=1"]\nwhy = ""', "why"),
        ("format = 1\n" + 2 * '[[unknown]]\nname = "a"\nset = ["x=1"]\n', "twice"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "unknowns.toml"
    file.write_text(text)
    with pytest.raises(UserError, match=said):
        unknowns.load(file)


def test_each_unknown_is_run_and_set_against_the_paper(tmp_path: Path) -> None:
    file = tmp_path / "unknowns.toml"
    file.write_text(
        'format = 1\n[[unknown]]\nname = "no metrics"\nset = ["stack.metrics=false"]\n'
        '[[unknown]]\nname = "window"\nset = ["workload.receive_window=32kB"]\n'
    )
    arguments = [
        "validate",
        "sensitivity",
        "tlp-2013-bench",
        "--unknowns",
        str(file),
        "--repeat",
        "1",
    ]
    arguments += ["--out", str(tmp_path / "runs"), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    table = json.loads(result.stdout)
    assert len(table["cells"]) == 18
    assert [row["name"] for row in table["rows"]] == ["as written down", "no metrics", "window"]
    base, _, window = (row["off_paper"] for row in table["rows"])
    assert all(off is not None for off in base)
    assert window != base


def test_a_scenario_of_which_nothing_is_unknown_is_named() -> None:
    done = CliRunner().invoke(app, ["validate", "sensitivity", "smoke"])
    assert isinstance(done.exception, UserError)
    assert "nobody has written down" in done.exception.what
    assert "--unknowns" in str(done.exception.hint)
