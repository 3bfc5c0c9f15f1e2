"""The folder of `rexmit validate agree`: what is kept of an interrupted comparison."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import rexmit
from rexmit import _core
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit_validate.agree.draw import draw
from rexmit_validate.agree.folder import About, Folder
from rexmit_validate.agree.recorded import of_folder

ABOUT = About("6.1.192-hz250-x", "6.1.192", 250, "k", "g", seed=5)
CASES = {index: draw(_core, 5, index) for index in range(3)}


def test_a_torn_line_takes_no_other_with_it(tmp_path: Path) -> None:
    folder = Folder.begin(tmp_path, ABOUT, CASES)
    folder.add(0, {"error": "a"})
    with (tmp_path / "kernel.jsonl").open("a", encoding="utf-8") as file:
        file.write('[1,{"x"')
    again = Folder.begin(tmp_path, ABOUT, CASES)
    assert set(again.outcomes()) == {0}
    again.add(1, {"error": "b"})
    again.add(2, {"error": "c"})
    assert set(again.outcomes()) == {0, 1, 2}


def test_a_case_that_the_kernel_did_not_run_is_tried_again(tmp_path: Path) -> None:
    folder = Folder.begin(tmp_path, ABOUT, CASES)
    folder.add(0, {"error": "the kernel was killed by signal 9"})
    folder.add(1, {"packets": []})
    assert folder.done() == {1}
    folder.add(0, {"packets": []})
    assert folder.done() == {0, 1}
    assert folder.outcomes()[0] == {"packets": []}


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_what_cannot_be_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        Folder.begin(tmp_path / name, ABOUT, CASES)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    Folder.begin(tmp_path, ABOUT, CASES)
    (tmp_path / "kernel.jsonl").mkdir()
    with pytest.raises(UserError, match=r"kernel\.jsonl: cannot be written: Is a directory"):
        Folder.begin(tmp_path, ABOUT, CASES)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match="not empty"):
        Folder.begin(tmp_path, ABOUT, CASES)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_two_kernels_are_compared_in_the_cases_that_both_ran(tmp_path: Path) -> None:
    first, second = (Folder.begin(tmp_path / name, ABOUT, CASES) for name in ("a", "b"))
    outcome: dict[str, object] = {"packets": [[0, 0, 1, 1448, 16, 1, 500, 0, None, []]]}
    late: dict[str, object] = {"packets": [[9_000_000, 0, 1, 1448, 16, 1, 500, 0, None, []]]}
    for number, (one, other) in enumerate([(outcome, outcome), (outcome, late)]):
        first.add(number, one)
        second.add(number, other)
    first.add(2, outcome)
    found = rexmit.agree_again(tmp_path / "a", against=tmp_path / "b", ticks=2)
    assert (found.rates.cases, found.rates.agreed) == (2, 1)
    assert found.as_json()["disagreements"] == {
        "new data: other later by more than 2 ticks": ["5-1"]
    }
    assert rexmit.agree_again(tmp_path / "a", against=tmp_path / "b", ticks=3).rates.agreed == 2
    first.add(2, {"error": "the kernel died"})
    second.add(2, outcome)
    words = ["validate", "agree", "--again", str(tmp_path / "a"), "--against", str(tmp_path / "b")]
    report = tmp_path / "report.xml"
    done = CliRunner().invoke(app, [*words, "--ticks", "2", "--ktap", "--junit", str(report)])
    assert done.stdout.splitlines() == [
        "KTAP version 1",
        "1..3",
        "ok 1 5-0",
        "# new data: other later by more than 2 ticks",
        "not ok 2 5-1",
        "# the kernel died",
        "not ok 3 5-2 # ERROR cannot tell",
    ]
    assert 'tests="3" failures="1" errors="1"' in report.read_text(encoding="utf-8")
    both = CliRunner().invoke(app, [*words, "--ktap", "--json"]).exception
    assert isinstance(both, UserError)
    assert both.usage
    third = Folder.begin(tmp_path / "c", replace(ABOUT, seed=6), {0: draw(_core, 6, 0)})
    third.add(0, outcome)
    with pytest.raises(UserError, match="no case in common"):
        rexmit.agree_again(tmp_path / "a", against=tmp_path / "c")
    Folder.begin(tmp_path / "d", replace(ABOUT, hz=1000), CASES)
    with pytest.raises(UserError, match=r"of 250 Hz, .* of one of 1000 Hz"):
        rexmit.agree_again(tmp_path / "a", against=tmp_path / "d")


def test_the_room_of_an_image_is_kept(tmp_path: Path) -> None:
    about = replace(ABOUT, room={"packet_overhead": "1280", "header_room": "256"})
    folder = Folder.begin(tmp_path, about, CASES)
    assert folder.about() == about
    bench = of_folder(folder, about, "linux-6.1").bench
    assert bench is not None
    assert (bench.settings, bench.aligned) == (about.room, True)
    assert of_folder(folder, ABOUT, "linux-6.1").bench is None
