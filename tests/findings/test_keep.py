"""Results written and read, measured, and confirmed by a sample."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from scripts.findings import __main__, keep, results, stamps
from scripts.findings.finding import Finding, Tier, Work
from scripts.findings.results import Data, Made, Result

MADE = Made("make findings", "0.1.0", "abc", "hours", 61.2, ["Linux 6.12"], cores_s=99.6)
DATA = Data(
    {"off": -0.123456789, "whole": 3.0, "large": 13_860, "word": "holds", "none": None},
    {"rows": [{"n": 1, "mean_s": 1 / 3}, {"n": 2, "holds": True}]},
)


WORK = """
import time
while time.process_time() < 0.2: pass
"""


def result(**changes: object) -> Result:
    known = {"name": "small", "made": MADE, "code": {"a": "1"}, "data": DATA, "files": {}}
    return Result(**{**known, **changes})  # type: ignore[arg-type]


def test_results_come_back_with_seven_digits(tmp_path: Path) -> None:
    results.write(result(), tmp_path)
    read = results.read("small", tmp_path)
    assert read.data.values == {
        "off": -0.1234568,
        "whole": 3,
        "large": 13_860,
        "word": "holds",
        "none": None,
    }
    first, second = read.data.rows("rows")
    assert first == {"n": 1, "mean_s": 0.3333333, "holds": None}
    assert second == {"n": 2, "mean_s": None, "holds": True}
    assert (read.made.seconds, read.made.cores_s) == (61, 100)
    assert read.made.kernels == ["Linux 6.12"]
    assert read.made.confirmed is None
    assert results.write(read, tmp_path).read_text() == results.path("small", tmp_path).read_text()


def test_rows_are_found_by_their_cells() -> None:
    assert DATA.row("rows", n=2)["holds"] is True
    with pytest.raises(KeyError, match="rows has 0 rows with"):
        DATA.row("rows", n=3)
    with pytest.raises(KeyError, match="rows has 2 rows with"):
        DATA.row("rows")


@pytest.mark.parametrize("text", ["{", "{}", '{"format": 1, "name": "other"}', "[]"])
def test_what_is_no_result_is_named(text: str, tmp_path: Path) -> None:
    results.path("small", tmp_path).write_text(text)
    with pytest.raises(ValueError, match=r"small\.json"):
        results.read("small", tmp_path)


class Lab:
    """A finding whose code and numbers a test changes."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.code = root / "code.py"
        self.code.write_text("x = 1\n")
        self.number, self.wholes = 1.0, 0
        monkeypatch.setattr(keep, "FOLDER", root)
        monkeypatch.setattr(keep, "RUNS", root / "runs")
        monkeypatch.setattr(results.path, "__defaults__", (root / "results",))
        monkeypatch.setattr(results.read, "__defaults__", (root / "results",))
        monkeypatch.setattr(results.write, "__defaults__", (root / "results",))
        monkeypatch.setattr(stamps.stamps, "__defaults__", (root,))

        self.tier: Tier = "hours"

    @property
    def finding(self) -> Finding:
        stamps._digest.cache_clear()
        return Finding("small", self.tier, ("code.py",), self.measure, {}, self.sample)

    def measure(self, work: Work) -> Data:
        self.wholes += 1
        subprocess.run([sys.executable, "-c", WORK], check=True)
        work.kernels.add("Linux 6.12")
        return Data({"n": self.number})

    def sample(self, work: Work) -> Mapping[str, str]:
        assert list(work.folder.iterdir()) == []
        return {"one": str(self.number)}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


def test_a_result_is_current_until_its_code_changes(lab: Lab) -> None:
    assert not keep.current(lab.finding)
    keep.measure(lab.finding, print)
    assert keep.current(lab.finding)
    lab.code.write_text("x = 1  # of them\n")
    assert keep.current(lab.finding)
    lab.code.write_text("x = 2\n")
    assert not keep.current(lab.finding)
    assert keep.older(lab.finding, results.read("small")) == ["code.py"]


def test_work_of_processors_is_counted_over_interruptions(lab: Lab, tmp_path: Path) -> None:
    for wholes in (1, 2):
        keep.measure(lab.finding, print)
        spent = (tmp_path / "runs" / "small" / "spent").read_text().split()
        assert 0.2 * wholes <= float(spent[1]) <= 2 * wholes


def test_a_sample_that_is_the_same_confirms_a_result(lab: Lab) -> None:
    keep.measure(lab.finding, print)
    lab.code.write_text("x = 2\n")
    assert keep.confirm(lab.finding, print) == []
    assert keep.current(lab.finding)
    assert "by a sample (1 of its runs, alike)" in str(results.read("small").made.confirmed)
    assert lab.wholes == 1


def test_a_sample_that_differs_does_not(lab: Lab) -> None:
    keep.measure(lab.finding, print)
    lab.code.write_text("x = 2\n")
    lab.number = 2.0
    assert keep.confirm(lab.finding, print) == ["one"]
    assert not keep.current(lab.finding)
    assert results.read("small").data.values == {"n": 1}


def test_a_figure_that_was_changed_makes_a_result_stale(lab: Lab, tmp_path: Path) -> None:
    keep.measure(lab.finding, print)
    figure = tmp_path / "figure.svg"
    figure.write_text("<svg/>")
    written = results.read("small")
    results.write(result(code=written.code, files={"figure.svg": "0"}))
    assert keep.changed(results.read("small")) == ["figure.svg"]
    assert not keep.current(lab.finding)


def test_what_a_result_no_longer_has_goes(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "old.svg").write_text("<svg/>")
    results.write(result(files={"old.svg": "0"}))
    keep.measure(lab.finding, print)
    assert not (tmp_path / "old.svg").exists()


def asked(lab: Lab, monkeypatch: pytest.MonkeyPatch, *names: str, tier: Tier = "minutes") -> str:
    """What `make findings` has to say of it in the end; nothing where all is well."""
    monkeypatch.setattr(__main__, "FINDINGS", {"small": lab.finding})
    return "; ".join(__main__.measured(names, tier))


def test_what_takes_hours_is_measured_where_it_is_asked_for(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = "make findings TIER=hours ONLY=small"
    assert asked(lab, monkeypatch) == f"small was never measured: {again}"
    assert asked(lab, monkeypatch, tier="hours") == ""
    assert asked(lab, monkeypatch, tier="hours") == ""
    assert lab.wholes == 1
    lab.code.write_text("x = 2\n")
    assert asked(lab, monkeypatch) == ""
    assert lab.wholes == 1
    lab.code.write_text("x = 3\n")
    lab.number = 2.0
    assert asked(lab, monkeypatch).endswith(f"gives other numbers now (one): {again}")
    assert lab.wholes == 1
    assert asked(lab, monkeypatch, "small") == ""
    assert lab.wholes == 2


def test_what_takes_minutes_is_measured_at_once(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.tier = "minutes"
    for wholes in (1, 1):
        assert asked(lab, monkeypatch) == ""
        assert lab.wholes == wholes
    lab.code.write_text("x = 2\n")
    assert asked(lab, monkeypatch) == ""
    assert lab.wholes == 2


def test_a_name_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["tlp-2031"])
    assert "tlp-2031: there are tlp-2013, " in capsys.readouterr().err
