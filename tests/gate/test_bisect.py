"""`rexmit bisect` without kernels: which commits are judged, what is found, and what is kept."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

import rexmit
from rexmit import additions
from rexmit.errors import EXIT_CANNOT_TELL, FaultySourceError, UserError, failed
from rexmit.gate.attempts import Verdict
from rexmit.gate.bisect import Answer, Found, search
from rexmit.gate.cells import of_steps
from rexmit.gate.formats import junit, ktap
from rexmit.gate.history import Commit, History
from rexmit.kernels import git as git_objects
from rexmit.kernels.git import At
from rexmit.kernels.newtree import NewTree
from rexmit.library import commits as library
from rexmit.library.packetdrill import Scripts
from rexmit.library.run import Campaign
from rexmit.store.open_run import Run

Verdicts = Callable[[Commit], Verdict]


def git(repository: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e")
    done = subprocess.run(
        ["git", "-C", repository, *who, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def repository(folder: Path, subjects: Sequence[str]) -> list[str]:
    """Of commits one after the other; their names."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    names = []
    for subject in subjects:
        (folder / "Makefile").write_text(f"# {subject}\n")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", subject)
        names.append(git(folder, "rev-parse", "HEAD"))
    return names


@pytest.fixture
def ten(tmp_path: Path) -> History:
    """Ten commits, called 0 to 9."""
    repository(tmp_path / "tree", [str(number) for number in range(10)])
    return History(tmp_path / "tree")


def find(history: History, verdicts: Verdicts, good: str = "HEAD~9", bad: str = "HEAD") -> Found:
    ends = history.commit("good", good), history.commit("bad", bad)
    return search(history, *ends, lambda commit: Answer(verdicts(commit)))


def by_number(first: int, skipped: Sequence[int] = (), bad: Verdict = Verdict.WORSE) -> Verdicts:
    def judge(commit: Commit) -> Verdict:
        number = int(commit.subject)
        if number in skipped:
            return Verdict.CANNOT_TELL
        return bad if number >= first else Verdict.GOOD

    return judge


@pytest.mark.parametrize("first", range(1, 10))
def test_the_first_bad_commit_is_found_by_halves(ten: History, first: int) -> None:
    bad = Verdict.SPLAT if first % 2 else Verdict.WORSE
    found = find(ten, by_number(first, bad=bad))
    assert found.first_bad is not None
    assert found.first_bad.subject == str(first)
    assert found.exit_status == 0
    assert (found.before.commit.subject, found.bad.commit.subject) == (str(first - 1), str(first))
    # Both ends, and of eight between them at most four.
    assert len(found.steps) <= 6


def test_what_cannot_be_judged_is_left_out(ten: History) -> None:
    for skipped in ({1}, {5}, {4, 5}, {1, 8}, {2, 3, 4, 5, 6}, set(range(1, 9))):
        for first in range(1, 10):
            found = find(ten, by_number(first, sorted(skipped)))
            good = max(n for n in range(first) if n not in skipped)
            bad = min(n for n in range(first, 10) if n not in skipped)
            wanted = {str(number) for number in range(good + 1, bad + 1)}
            assert {one.subject for one in found.candidates} == wanted
            assert found.exit_status == (0 if len(wanted) == 1 else EXIT_CANNOT_TELL)
            assert found.before.commit.subject == str(good)


def test_a_commit_on_a_branch_is_found(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    repository(tree, ["good", "main"])
    git(tree, "checkout", "--quiet", "-b", "side", "HEAD~1")
    (tree / "file").write_text("side")
    git(tree, "add", ".")
    git(tree, "commit", "--quiet", "-m", "side")
    git(tree, "checkout", "--quiet", "-")
    git(tree, "merge", "--quiet", "--no-edit", "-m", "merge", "side")
    history = History(tree)
    bad = ("side", "merge")

    def judge(commit: Commit) -> Verdict:
        return Verdict.WORSE if commit.subject in bad else Verdict.GOOD

    found = find(history, judge, good="HEAD~2")
    assert found.first_bad is not None
    assert found.first_bad.subject == "side"


@pytest.mark.usefixtures("judging")
def test_ends_are_what_they_are_said_to_be(ten: History) -> None:
    with pytest.raises(UserError, match=r'\("0"\) is said to be good: worse') as fault:
        find(ten, by_number(0))
    assert failed(fault.value.exit_status) == EXIT_CANNOT_TELL
    with pytest.raises(UserError, match=r'\("9"\) is said to be bad: good'):
        find(ten, by_number(10))
    with pytest.raises(UserError, match="does not come before"):
        find(ten, by_number(5), good="HEAD", bad="HEAD~9")
    for wrong in ("nowhere", "--all", "HEAD^{tree}"):
        with pytest.raises(UserError, match="no such commit") as fault:
            ten.commit("good", wrong)
        assert fault.value.exit_status == 2


def test_the_tree_is_only_read(ten: History, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "Makefile").write_text("changed by its user\n")
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*")}
    found = find(ten, by_number(4))
    with NewTree(tmp_path / "copy", "tree") as copy:
        git_objects.copy(ten.at(found.bad.commit), lambda _: copy)
    assert (tmp_path / "copy" / "Makefile").read_text() == "# 4\n"
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*")} == before


class Bench:
    """In place of kernels: a script is worse from the commit `first` on; the fourth does not build;
    with `stops` the user ends it there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first: int) -> None:
        self.first = first
        self.stops: int | None = None
        self.fault: type[UserError] = FaultySourceError
        self.verdict = Verdict.WORSE
        self.built: list[int] = []
        self.ran: list[int] = []
        monkeypatch.setattr(library, "build", self.build)
        monkeypatch.setattr(library, "packetdrill", self.packetdrill)
        monkeypatch.setattr(library, "run", self.run)

    def build(self, _: str, at: At, **__: object) -> tuple[object, bool]:
        number = int(git(at.repository, "show", "-s", "--format=%s", at.commit))
        self.built.append(number)
        if number == 4:
            raise self.fault("building Linux failed", ["tcp.c:1: error", "The whole log: x"])
        return SimpleNamespace(name=f"kernel-{number}"), True

    def packetdrill(self, words: Sequence[str], how: Scripts) -> object:
        assert [Path(word).name for word in words] == ["a.pkt"]
        number = int(str(how.kernel).removeprefix("kernel-"))
        if number == self.stops:
            raise KeyboardInterrupt
        verdict = self.verdict if number >= self.first else Verdict.GOOD
        one = SimpleNamespace(name="a.pkt ipv4", verdict=verdict, why=["a.pkt:3: it differs"])
        return SimpleNamespace(results=[one])

    def run(self, scenario: str, campaign: Campaign, out: Path) -> Run:
        """A run on the model, whose timeouts are longer from the commit `first` on."""
        number = int(str(campaign.kernel).removeprefix("kernel-"))
        self.ran.append(number)
        settings = {"network": "mobile", "config": "er", "loss.segments": 1, "repeat": 1}
        if number >= self.first:
            settings["stack.min_rto"] = "400ms"
        return rexmit.run(scenario, engine="model", settings=settings, out=out)


def ask(tmp_path: Path, **more: object) -> Found:
    names = {"good": "HEAD~9", "bad": "HEAD", "tree": tmp_path / "tree", "out": tmp_path / "out"}
    (tmp_path / "a.pkt").touch()
    return rexmit.bisect(tmp_path / "a.pkt", tool="true", **(names | more))  # type: ignore[arg-type]


def test_it_goes_on_where_it_stopped(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    bench = Bench(monkeypatch, first=7)
    bench.stops = 5
    with pytest.raises(KeyboardInterrupt):
        ask(tmp_path)
    so_far, bench.built, bench.stops = bench.built, [], None
    assert so_far[:2] == [0, 9]
    assert so_far[-1] == 5
    found = ask(tmp_path)
    assert not set(so_far[:-1]) & set(bench.built)
    assert found.first_bad is not None
    assert found.first_bad.subject == "7"
    assert found.bad.answer.lines == (
        "0 of 1 scripts are good",
        "a.pkt ipv4: worse",
        "a.pkt:3: it differs",
    )
    assert "rexmit packetdrill" in found.bad.answer.again
    with pytest.raises(UserError, match="has another question"):
        ask(tmp_path, good="HEAD~8")


def test_a_commit_that_does_not_build_is_left_out(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    Bench(monkeypatch, first=5)
    found = ask(tmp_path, good="HEAD~6", bad="HEAD~3")
    assert found.first_bad is None
    assert {one.subject for one in found.candidates} == {"4", "5"}
    assert found.exit_status == EXIT_CANNOT_TELL
    skipped = next(step for step in found.steps if step.commit.subject == "4")
    assert skipped.answer.lines[:2] == ("building Linux failed", "tcp.c:1: error")


def test_a_commit_that_this_machine_cannot_build_is_not_left_out(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    bench = Bench(monkeypatch, first=5)
    bench.fault = UserError
    with pytest.raises(UserError, match="building Linux failed"):
        ask(tmp_path, good="HEAD~6", bad="HEAD~3")
    # There is room on the disk again.
    monkeypatch.setattr(bench, "fault", FaultySourceError)
    bench.built.clear()
    ask(tmp_path, good="HEAD~6", bad="HEAD~3")
    assert 4 in bench.built


def test_what_a_kernel_could_not_tell_is_asked_again(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    bench = Bench(monkeypatch, first=8)
    bench.verdict = Verdict.CANNOT_TELL
    for _ in range(2):
        bench.built.clear()
        with pytest.raises(UserError, match="is said to be bad: cannot tell"):
            ask(tmp_path)
        assert bench.built[-1] == 9
    bench.verdict = Verdict.WORSE
    found = ask(tmp_path)
    assert found.first_bad is not None
    assert found.first_bad.subject == "8"


def test_a_scenario_is_held_to_its_run_on_the_good_commit(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    bench = Bench(monkeypatch, first=7)
    more = {"good": "HEAD~9", "bad": "HEAD", "tree": tmp_path / "tree", "out": tmp_path / "out"}

    found = rexmit.bisect("smoke", **more)  # type: ignore[arg-type]
    assert found.first_bad is not None
    assert found.first_bad.subject == "7"
    assert any("t_recover" in line for line in found.bad.answer.lines)
    assert found.before.answer.lines == ("1 cells, none worse",)
    # Again, all is remembered; and the run that others are held to is that of the good commit.
    bench.ran.clear()
    (tmp_path / "out" / "judged.json").write_text(
        json.dumps(_without(json.loads((tmp_path / "out" / "judged.json").read_text()), "7"))
    )
    again = rexmit.bisect("smoke", **more)  # type: ignore[arg-type]
    assert bench.ran == [7]
    assert again.as_json() == found.as_json()


def _without(kept: dict[str, Any], number: str) -> dict[str, Any]:
    """What was judged but for one commit."""
    judged = {
        name: one for name, one in kept["judged"].items() if one["kernel"] != f"kernel-{number}"
    }
    return {**kept, "judged": judged}


def test_each_commit_of_a_series_stands_beside_the_one_before_it(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    bench = Bench(monkeypatch, first=7)

    place = {"tree": tmp_path / "tree", "out": tmp_path / "out"}
    series = rexmit.series("smoke", commits="HEAD~4..HEAD", **place)  # type: ignore[arg-type]
    verdicts = [str(one.answer.verdict) for one in series.steps]
    assert bench.ran == [5, 6, 7, 8, 9]
    assert verdicts == ["good", "good", "worse", "good", "good"]
    assert series.exit_status == 1
    lines = series.table()
    assert lines[0].split()[1:] == ["good", "1", "transfers"]
    assert lines[1].strip() == "5"
    whole = series.as_json()
    assert [one["subject"] for one in whole["commits"]] == ["5", "6", "7", "8", "9"]


def test_patches_by_mail_are_commits_of_a_clone(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = ten.top
    bench = Bench(monkeypatch, first=7)
    mbox = tmp_path / "v2.mbox"
    mbox.write_text(git(tree, "format-patch", "--stdout", "HEAD~4..HEAD") + "\n")
    git(tree, "reset", "--quiet", "--hard", "HEAD~4")
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    place = {"tree": tree, "out": tmp_path / "out", "mbox": mbox}

    series = rexmit.series("smoke", **place)  # type: ignore[arg-type]
    assert [one.commit.subject for one in series.steps] == ["5", "6", "7", "8", "9"]
    assert [str(one.answer.verdict) for one in series.steps][2] == "worse"
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
    # The same mails are the same commits, of which the answers are kept.
    bench.built.clear()
    again = rexmit.series("smoke", **place)  # type: ignore[arg-type]
    assert again.as_json() == series.as_json()
    assert bench.built == []
    with pytest.raises(UserError, match=r"`mbox` .*v2\.mbox does not apply to .*\(\"2\"\)"):
        rexmit.series("smoke", **(place | {"onto": "HEAD~3", "out": tmp_path / "other"}))  # type: ignore[arg-type]


def test_a_clone_takes_no_place_of_another_folder(ten: History, tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / "mine").touch()
    with pytest.raises(UserError, match="git clone failed"):
        ten.apply(tmp_path / "mbox", ten.commit("onto", "HEAD"), tmp_path / "clone")
    assert (tmp_path / "clone" / "mine").exists()


class Ran:
    """In place of random cases: those of a kernel differ from those before by what is in `FAILED`
    and how far apart the kernels are."""

    failed = 0

    def __init__(self, kernel: str, before: Path | None) -> None:
        self._words = f"{kernel} after {before and before.name}"

    def lines(self) -> list[str]:
        return [self._words]


def test_random_cases_stand_beside_those_of_the_commit_before(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    Bench(monkeypatch, first=7)
    ran: list[str] = []

    def agree_beside(kernel: str, *, before: Path | None, **_: object) -> Ran:
        ran.append(kernel)
        return Ran(kernel, before)

    monkeypatch.setattr(
        library, "import_module", lambda _: SimpleNamespace(agree_beside=agree_beside)
    )
    place = {"tree": tmp_path / "tree", "out": tmp_path / "out", "seconds": 1}
    asked = {"commits": "HEAD~2..HEAD", **place}
    series = rexmit.series("smoke", **asked)  # type: ignore[arg-type]
    assert ran == ["kernel-7", "kernel-8", "kernel-9"]
    assert series.steps[0].answer.lines == ("1 transfers", "kernel-7 after None")
    assert series.steps[2].answer.lines[-1] == "kernel-9 after cases-kernel-8"
    kept = json.loads((tmp_path / "out" / "judged.json").read_text())
    (tmp_path / "out" / "judged.json").write_text(json.dumps(_without(kept, "9")))
    assert rexmit.series("smoke", **asked).as_json() == series.as_json()  # type: ignore[arg-type]
    monkeypatch.setattr(Ran, "failed", 1)
    other = asked | {"out": tmp_path / "other"}
    verdicts = {one.answer.verdict for one in rexmit.series("smoke", **other).steps}  # type: ignore[arg-type]
    assert verdicts == {Verdict.CANNOT_TELL}
    monkeypatch.setattr(additions, "functions", dict)
    with pytest.raises(UserError, match="rexmit_validate is not installed"):
        rexmit.series("smoke", **(asked | {"out": tmp_path / "third"}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("more", "said"),
    [({}, "give `commits` or `mbox`$"), ({"commits": "a..b", "mbox": "m"}, "`mbox`, not both$")],
)
def test_commits_come_from_one_place(tmp_path: Path, more: dict[str, str], said: str) -> None:
    with pytest.raises(UserError, match=said) as fault:
        rexmit.series("smoke", tree=tmp_path, **more)  # type: ignore[arg-type]
    assert fault.value.exit_status == 2


def test_commits_are_lines_for_machines(
    ten: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ten
    Bench(monkeypatch, first=5)
    place = {"tree": tmp_path / "tree", "out": tmp_path / "out"}
    series = rexmit.series("smoke", commits="HEAD~6..HEAD~4", **place)  # type: ignore[arg-type]
    every = of_steps(series.steps, "series")
    text = "\n".join(line for number, one in enumerate(every, 1) for line in ktap(number, one))
    names = [step.commit.name[:12] for step in series.steps]
    assert f'ok 1 {names[0]} ("3")' in text
    assert "# building Linux failed" in text
    assert f'not ok 2 {names[1]} ("4") # ERROR cannot tell' in text
    assert "t_recover" in text
    assert f'not ok 3 {names[2]} ("5")' in text
    suite = ElementTree.fromstring(junit(every, "series"))  # noqa: S314
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert suite[0].get("classname") == "series"


@pytest.mark.parametrize("commits", ["HEAD", "..HEAD", "HEAD~1...HEAD", ""])
def test_a_range_has_a_base(tmp_path: Path, commits: str) -> None:
    with pytest.raises(UserError, match="is no range") as fault:
        rexmit.series("smoke", tree=tmp_path, commits=commits, out=tmp_path / "out")
    assert fault.value.exit_status == 2


def test_a_range_has_commits(ten: History, tmp_path: Path) -> None:
    assert ten
    with pytest.raises(UserError, match="there are no commits in"):
        rexmit.series("smoke", tree=tmp_path / "tree", commits="HEAD..HEAD", out=tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "keywords", "said"),
    [
        ([], {}, "nothing to ask is named"),
        (["a.pkt"], {"worse_than": "5%"}, "is about scenarios"),
        (["a.pkt"], {"settings": {"repeat": 1}}, "is about scenarios"),
        (["smoke"], {"worse_than": "5"}, "5"),
        (["smoke", "tlp-2013"], {"worse_than": "5%"}, "tlp-2013 does not go with a scenario"),
        (["smoke"], {"worse_than": "5%", "tool": "true"}, "does not go with a scenario"),
        (["no-such"], {"worse_than": "5%"}, "no-such"),
    ],
)
def test_what_does_not_go_together_is_refused(
    ten: History, tmp_path: Path, words: list[str], keywords: dict[str, object], said: str
) -> None:
    out = tmp_path / "out"
    assert ten
    names = {"good": "HEAD~9", "bad": "HEAD", "tree": tmp_path / "tree", "out": out}
    with pytest.raises(UserError, match=said) as fault:
        rexmit.bisect(words, **(names | keywords))  # type: ignore[arg-type]
    assert fault.value.exit_status == 2
    assert not (out / "judged.json").exists()
