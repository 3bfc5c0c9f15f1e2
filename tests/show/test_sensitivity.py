"""How far departures from a bench move Table 4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.scenario import find
from rexmit_validate.sensitivity import unknowns
from rexmit_validate.sensitivity.departures import (
    CELLS as TABLE,
)
from rexmit_validate.sensitivity.departures import (
    FURTHEST,
    BenchRow,
    Departure,
    PaperMean,
    Sensitivity,
    distance,
    means,
    row,
)
from rexmit_validate.sensitivity.measure import FILE, READINGS, CellMeans
from rexmit_validate.sensitivity.recorded import recorded_means
from rexmit_validate.sensitivity.unknowns import Unknown

CELLS = (PaperMean("mobile", "er", "t_recover"), PaperMean("mobile", "er", "t_total"))


def test_near_counts_by_the_measure_s_own_margin() -> None:
    row = BenchRow("x", (7.0, 7.0))
    assert row.near(CELLS, "t_recover") == 0
    assert row.near(CELLS, "t_total") == 1


def test_moved_is_against_the_first_row() -> None:
    table = Sensitivity(CELLS, (BenchRow("base", (10.0, None)), BenchRow("other", (-5.0, 3.0))))
    assert table.moved(table.rows[1]) == (-15.0, None)


def test_the_bench_s_unknowns_can_be_read() -> None:
    base = find("tlp-2013-bench")
    found = unknowns.load(base.parent / "unknowns" / base.name)
    assert "no timestamps" in [unknown.name for unknown in found.unknown]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format = 1", "unknown"),
        (f"format = {'[' * 2000}", "recursion"),
        ('format = 1\n[[unknown]]\nname = "a"\nset = []', "changes nothing"),
        ('format = 1\n[[unknown]]\nname = "a"\nread = {t_total = "x"}', "printed"),
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


def unknown(name: str, *settings: str, **read: str) -> Unknown:
    return Unknown.model_validate({"name": name, "set": settings, "read": read})


def test_departures_that_touch_one_key_do_not_go_together() -> None:
    small, large = unknown("small", "a.b=1"), unknown("large", "a.b=2", "c=3")
    letter = unknown("letter", t_total="printed")
    assert not Departure((small,)).goes_with(large)
    assert Departure((small,)).goes_with(letter)
    assert not Departure((small, letter)).goes_with(letter)
    both = Departure((small, letter))
    assert (both.name, both.settings) == ("small + letter", ("a.b=1",))
    assert (both.read, both.penalty) == ({"t_total": "printed"}, 2.0)


def test_a_mean_that_is_not_there_is_furthest() -> None:
    assert distance([3.0, -4.0]) == pytest.approx((25 / 2) ** 0.5)
    assert distance([None]) == distance([900.0]) == FURTHEST


def test_a_time_to_the_letter_takes_the_place_of_ours() -> None:
    times = dict(zip(READINGS, (0.3, 0.2, 0.1, 0.4), strict=True))
    cell = CellMeans("mobile", "tlp", 2, 2, times)
    assert means([cell], {}) == {
        PaperMean("mobile", "tlp", "t_total"): times["t_total"],
        PaperMean("mobile", "tlp", "t_recover"): times["t_recover"],
    }
    printed = means([cell], {"t_total": "printed"})
    assert printed[PaperMean("mobile", "tlp", "t_total")] == times["t_total_printed"]
    assert means([CellMeans("home", "tlp", 2, 2, times)], {}) == {}


def test_rows_of_a_kernel_have_the_means_of_their_cells() -> None:
    base = find("tlp-2013-bench")
    file = base.parent / "unknowns" / base.name
    lab, sg, gso = (recorded_means(one, file, {"tlp"}) for one in unknowns.load(file).recorded)
    assert lab[PaperMean("high-speed", "er", "t_recover")] == pytest.approx(0.2389, abs=5e-5)
    assert sg[PaperMean("mobile", "er", "t_total")] == pytest.approx(1.0213, abs=5e-5)
    # The kernel did not probe a satellite's tail there, and there are no rows of plain.
    assert PaperMean("satellite", "tlp", "t_recover") not in lab
    assert not any(cell.config == "plain" for cell in gso)


SEARCHED = """
format = 1
[[unknown]]
name = "window"
set = ["workload.receive_window=32kB"]
[[unknown]]
name = "smaller"
set = ["workload.receive_window=16kB"]
[[unknown]]
name = "letter"
read = { t_recover = "printed" }
[[unknown]]
name = "slow"
set = ["stack.hz=100"]
penalty = 50.0
[[recorded]]
name = "a kernel"
rows = "rows.csv"
bench = "b"
set = ["stack.gso_segments=1", "stack.scatter_gather=false"]
"""


def searched(tmp_path: Path, *more: str) -> dict[str, Any]:
    file = tmp_path / "unknowns.toml"
    file.write_text(SEARCHED)
    words = ["validate", "sensitivity", "tlp-2013-bench", "--unknowns", str(file)]
    words += ["--repeat", "1", "--set", "workload.warm_up=0", "--together", "2"]
    words += ["--out", str(tmp_path / "out"), "--json", *more]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_search_finds_the_nearest_combinations(tmp_path: Path) -> None:
    found = searched(tmp_path)
    # Nothing, four alone, five pairs: the two windows do not go together.
    assert found["benches"] == 1 + 4 + 5
    scores = [bench["score"] for bench in found["nearest"]]
    assert scores == sorted(scores)
    assert all(
        bench["score"] == pytest.approx(bench["distance"] + bench["penalty"])
        for bench in found["nearest"]
    )
    assert "slow" in found["nearest"][-1]["departures"]
    nearest = found["nearest"][0]
    assert nearest["score"] <= found["base"]["score"]
    off = row("", dict(zip(TABLE, nearest["means_s"], strict=True))).off_paper
    assert list(off) == pytest.approx(nearest["off_paper"])
    # What was measured is not measured again, and comes out the same.
    before = (tmp_path / "out" / "search" / FILE).read_bytes()
    assert searched(tmp_path) == found
    assert (tmp_path / "out" / "search" / FILE).read_bytes() == before


def test_what_is_held_out_chooses_nothing(tmp_path: Path) -> None:
    found = searched(tmp_path, "--hold-out", "t_total")
    for bench in (found["base"], *found["nearest"]):
        fitted, others = (
            distance(
                off
                for cell, off in zip(found["cells"], bench["off_paper"], strict=True)
                if (cell["measure"] == "t_total") is held
            )
            for held in (False, True)
        )
        assert bench["distance"] == pytest.approx(fitted)
        assert bench["held_out"] == pytest.approx(others)
        assert bench["score"] == pytest.approx(fitted + bench["penalty"])
    whole = searched(tmp_path)
    assert whole["base"]["held_out"] is None
    assert whole["base"]["distance"] != pytest.approx(found["base"]["distance"])


def test_a_search_from_a_bench_that_fails_says_why(tmp_path: Path) -> None:
    searched(tmp_path)
    file = tmp_path / "out" / "search" / FILE
    there = json.loads(file.read_text())
    for bench in there["benches"]:
        if not bench["settings"]:
            bench["failed"] = ["mobile er 5: out of memory"]
    file.write_text(json.dumps(there))
    words = ["validate", "sensitivity", "tlp-2013-bench", "--repeat", "1", "--together", "2"]
    words += ["--unknowns", str(tmp_path / "unknowns.toml"), "--set", "workload.warm_up=0"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, UserError)
    assert "mobile er 5: out of memory" in done.exception.what
    assert "rexmit run tlp-2013-bench" in str(done.exception.hint)


def test_a_search_may_start_from_what_a_kernel_showed(tmp_path: Path) -> None:
    names = [*(f"{name}_s" for name in READINGS), "is_tlp", "complete", "exact", "stalled"]
    head = ["bench", "network", "config", *names]
    times = {"t_total_s": "1.0", "t_recover_s": "0.5"}
    yes = {"complete": "true", "exact": "true", "stalled": "false"}
    values = [times.get(name, yes.get(name, "")) for name in names]
    # The model does not probe this satellite's tail: it cannot say what changes there.
    cells = (f"b,{cell},{','.join(values)}" for cell in ("mobile,er", "satellite,tlp"))
    (tmp_path / "rows.csv").write_text("\n".join((",".join(head), *cells)))
    found = searched(tmp_path, "--start", "a kernel")
    assert [cell["measure"] for cell in found["cells"]] == ["t_recover", "t_total"]
    assert found["base"]["means_s"] == pytest.approx([0.5, 1.0])
    assert found["nearest"][0]["score"] <= found["base"]["score"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--start", "x"), "--start belongs to a search"),
        (("--nearest", "3"), "--nearest belongs to a search"),
        (("--width", "3"), "--width belongs to a search"),
        (("--hold-out", "mobile"), "--hold-out belongs to a search"),
        (("--together", "2", "--hold-out", "moon"), "high-speed, mobile, satellite"),
        (
            ("--together", "2", "--start", "a 3.10.4, gatherin"),
            "did you mean 'a 3.10.4, gathering'",
        ),
    ],
)
def test_a_start_that_is_none_is_named(words: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(app, ["validate", "sensitivity", "tlp-2013-bench", *words])
    assert isinstance(done.exception, UserError)
    assert said in done.exception.what + str(done.exception.hint)
