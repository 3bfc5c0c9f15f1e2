"""`rexmit validate score` over a corpus by hand, whose matrices are known."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.score.conftest import (
    FLOW,
    TRUTH,
    analyse,
    claim,
    connection,
    tables,
    truth_frame,
    write_corpus,
)

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit_validate.score import count, stacks
from rexmit_validate.score.corpus import open_corpus
from rexmit_validate.score.report import Report, by_itself, report

runner = CliRunner()

UP = " > ".join(reversed(FLOW.split(" > ")))


def made(corpus: Path, **narrow: str) -> Report:
    return report(open_corpus(corpus).narrowed(**narrow), by_itself(analyse))


def test_the_matrix_of_mechanisms(corpus: Path) -> None:
    matrix = made(corpus).at("sender").mechanisms
    assert dict(matrix.counts) == {
        ("rto", "rto"): 1,
        ("tlp", "rto|tlp"): 1,
        ("rack", "rack"): 1,
        ("rack", "fast-retransmit"): 1,
        ("rto-recovery", "missed"): 1,
        ("invented", "rto"): 1,
    }
    assert (matrix.retransmissions, matrix.right, matrix.missed, matrix.invented) == (5, 3, 1, 1)
    assert matrix.accuracy == 3 / 5
    assert matrix.columns == ("rto", "rto|tlp", "fast-retransmit", "rack", "missed")
    assert matrix.rows == ("rto", "rto-recovery", "tlp", "rack", "invented")


def test_precision_and_recall(corpus: Path) -> None:
    of = {one.name: one for one in made(corpus).at("sender").mechanisms.classes()}
    assert {name: (one.precision, one.recall) for name, one in of.items()} == {
        "rto": (1 / 2, 1.0),  # the invented one counts against it
        "rto-recovery": (None, 0.0),
        "tlp": (1.0, 1.0),
        "fast-retransmit": (0.0, None),
        "rack": (1.0, 1 / 2),
    }


def test_the_matrix_of_needs(corpus: Path) -> None:
    matrix = made(corpus).at("sender").needs
    assert dict(matrix.counts) == {
        ("needed", "needed"): 2,
        ("needed", "spurious"): 1,
        ("needed", "missed"): 1,
        ("spurious", "spurious"): 1,
        ("invented", "needed"): 1,
    }
    assert matrix.accuracy == 3 / 5


def test_what_a_point_does_not_see_does_not_count_there(corpus: Path) -> None:
    score = made(corpus).at("receiver")
    assert (score.mechanisms.retransmissions, score.mechanisms.right) == (3, 2)
    assert score.mechanisms.counts["rack", "unknown"] == 1
    assert score.needs.accuracy == 2 / 3


def test_of_what_the_other_end_sends_the_points_are_the_other_way_round(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "t", [*TRUTH[:2], {**TRUTH[2], "flow": UP}])
    claims = [claim(), claim(flow=UP, mechanism="rack", time_ns=1_200_000_000)]
    found = report(open_corpus(corpus), by_itself(lambda _: tables(claims)))
    assert found.points == ("sender", "receiver")
    assert dict(found.at("sender").mechanisms.counts) == {("rto", "rto"): 1, ("tlp", "missed"): 1}
    assert dict(found.at("receiver").mechanisms.counts) == {("rack", "rack"): 1}


def test_times_tell_which_way_a_connection_goes(tmp_path: Path) -> None:
    ns = TRUTH[1]["sender_ns"]
    rows = [{**TRUTH[1], "receiver_ns": ns - 1}, {**TRUTH[2], "sender_ns": None, "receiver_ns": ns}]
    along, against = open_corpus(write_corpus(tmp_path / "t", rows)).ways("a")
    assert (along.to_list(), against.to_list()) == ([UP], [FLOW])
    homes = [{**row, "home": "receiver"} for row in TRUTH]
    along, against = open_corpus(write_corpus(tmp_path / "v", homes)).ways("a")
    assert (along.to_list(), against.to_list()) == ([UP], [FLOW])
    along, against = open_corpus(write_corpus(tmp_path / "u", TRUTH)).ways("a")
    assert (along.to_list(), against.to_list()) == ([FLOW], [UP])


def test_what_is_wrong_is_listed(corpus: Path) -> None:
    wrong = made(corpus, point="sender").wrong
    assert wrong.select("mechanism", "claimed_mechanism", "need", "claimed_need").rows() == [
        ("rack", "rack", "needed", "spurious"),
        ("rack", "fast-retransmit", "spurious", "spurious"),
        ("rto-recovery", "missed", "needed", "missed"),
        ("invented", "rto", "invented", "needed"),
    ]


def test_a_truth_that_is_unknown_judges_nobody(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "t", [{**TRUTH[0], "mechanism": "unknown", "need": "unknown"}])
    found = report(open_corpus(corpus), by_itself(lambda _: tables([claim(need="spurious")])))
    assert (
        found.at("sender").mechanisms.retransmissions
        == found.at("sender").needs.retransmissions
        == 0
    )
    assert found.at("sender").mechanisms.invented == 0
    assert found.wrong.is_empty()


def test_traffic_that_is_not_of_the_corpus_is_not_invented(corpus: Path) -> None:
    other = claim(flow="10.0.0.9:1 > 10.0.0.1:53")
    found = report(open_corpus(corpus), by_itself(lambda _: tables([other])))
    assert found.at("sender").mechanisms.invented == 0


def test_tlp_or_rto_is_right_for_no_other() -> None:
    assert count.is_right("tlp", "rto|tlp")
    assert count.is_right("rto", "rto|tlp")
    assert not count.is_right("rack", "rto|tlp")
    assert not count.is_right("unknown", "unknown")


def judge(
    truth: pl.DataFrame, retransmissions: pl.DataFrame, named: dict[str, Any], flow: str = FLOW
) -> stacks.Stacks:
    flows = pl.Series("flow", [flow])
    return stacks.judge(truth, retransmissions, tables([], [named]), flows)


@pytest.mark.parametrize(
    ("stack", "several", "confidence", "verdict"),
    [
        ("linux-6", "linux-6", 0.95, stacks.RIGHT),
        ("several", "linux-6,linux-3", 0.5, stacks.AMONG),
        ("several", "linux-3,windows-xp", 0.5, stacks.WRONG),
        ("none", "", 0.0, stacks.NONE),
        (None, None, None, stacks.NONE),
        ("windows-xp", "windows-xp", 0.8, stacks.WRONG),
        ("windows-xp", "windows-xp", 0.9, stacks.SURELY_WRONG),
    ],
)
def test_senders(
    stack: str | None, several: str | None, confidence: float | None, verdict: str
) -> None:
    named = connection(
        backward_stack=stack, backward_stacks=several, backward_stack_confidence=confidence
    )
    truth = pl.DataFrame({"flow": [FLOW], "stack": ["linux-6.12"]})
    found = judge(truth, truth_frame(TRUTH), named)
    assert found.verdicts == Counter({verdict: 1})


def test_senders_of_few_retransmissions_are_not_judged() -> None:
    truth = pl.DataFrame({"flow": [FLOW], "stack": ["linux-6.12"]})
    named = connection(backward_stack="linux-6")
    assert judge(truth, truth_frame(TRUTH[:2]), named).judged == 0
    assert judge(truth, truth_frame(TRUTH[:3]), named).judged == 1


def test_the_client_is_a_sender_of_its_own() -> None:
    retransmissions = truth_frame({**row, "flow": UP} for row in TRUTH)
    named = connection(forward_stack="solaris-10", backward_stack="linux-6")
    truth = pl.DataFrame({"flow": [FLOW], "stack": ["solaris-10"]})
    assert judge(truth, retransmissions, named, UP).verdicts[stacks.RIGHT] == 1
    assert judge(truth, retransmissions, named).judged == 0
    ends = pl.DataFrame({"flow": [FLOW], "stack": ["linux-6.12"], "receiver_stack": ["solaris-10"]})
    assert judge(ends, retransmissions, named, UP).verdicts[stacks.RIGHT] == 1


def test_each_stack_apart(tmp_path: Path) -> None:
    rows = [*TRUTH[:3], {**TRUTH[3], "flow": UP}]
    ends = [{"part": "a", "flow": FLOW, "stack": "linux-6.12", "receiver_stack": "solaris-10"}]
    found = report(open_corpus(write_corpus(tmp_path / "t", rows, ends)), by_itself(analyse))
    (name, (mechanisms, needs)) = next(iter(found.at("sender").senders.items()))
    assert (name, mechanisms.right, mechanisms.retransmissions) == ("linux-6", 3, 3)
    assert needs.right == 2
    assert list(found.at("receiver").senders) == ["solaris-10"]


def test_families() -> None:
    words = [
        "linux-6.1",
        "linux-4.19",
        "linux-4.1",
        "linux-3.10",
        "linux-2.4",
        "windows-2000",
        "mac-os-x",
        "rfc",
    ]
    assert [stacks.family(word) for word in words] == [
        "linux-6",
        "linux-6",
        "linux-3",
        "linux-3",
        "linux-2.4",
        "windows-xp",
        "freebsd-5",
        "rfc",
    ]


# The command line.


@pytest.fixture
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rexmit_validate.library.score.tables", analyse)


def run(*words: str) -> str:
    result = runner.invoke(
        app, ["validate", "score", *words], catch_exceptions=False, env={"COLUMNS": "160"}
    )
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.usefixtures("_by_hand")
def test_printed(corpus: Path) -> None:
    lines = [" ".join(line.split()) for line in run(str(corpus), "--no-tshark").splitlines()]
    assert "at the sender: 5 retransmissions in 1 part" in lines
    assert "mechanism right 60.00 % (target 99%: missed)" in lines
    assert "rto 1 2 50.00 % 100.00 % precision below 95%" in lines
    assert "invented 1 · · · ·" in lines
    assert "100.00 % right (1)" in lines
    assert "mechanism right 66.66 % (target 95%: missed)" in lines


@pytest.mark.usefixtures("_by_hand")
def test_the_worst_say_how_to_look_at_them(corpus: Path) -> None:
    told = run(str(corpus), "--no-tshark", "--worst", "2", "--point", "sender")
    assert "the first 2 of 4 wrong:" in told
    assert f"rexmit show {corpus}/captures/a-sender.pcapng --flow '{FLOW}' --at 1.200000" in told


@pytest.mark.usefixtures("_by_hand")
def test_json(corpus: Path) -> None:
    data = json.loads(run(str(corpus), "--no-tshark", "--json"))
    sender = data["points"]["sender"]
    assert sender["mechanism"]["accuracy"] == 0.6
    assert sender["mechanism"]["confusion"]["rack"] == {"fast-retransmit": 1, "rack": 1}
    assert sender["parts"]["a"]["need"]["classes"]["spurious"]["precision"] == 0.5
    assert sender["tshark"] is None


@pytest.mark.usefixtures("_by_hand")
def test_fail_under(corpus: Path) -> None:
    words = ["validate", "score", str(corpus), "--no-tshark", "--fail-under"]
    assert runner.invoke(app, [*words, "60"]).exit_code == 0
    assert runner.invoke(app, [*words, "61"]).exit_code == 1


@pytest.mark.usefixtures("_by_hand")
def test_parts_of_a_kind_stand_together(tmp_path: Path) -> None:
    names = ("001-tails", "002-tails", "003-bursts")
    rows = [{**row, "part": name} for name in names for row in TRUTH]
    ends = [{"part": name, "flow": FLOW, "stack": "linux-6.12"} for name in names]
    captures = [f"{name}-sender.pcapng" for name in names]
    path = str(write_corpus(tmp_path / "t", rows, ends, captures))
    kinds = [" ".join(line.split()) for line in run(path, "--no-tshark").splitlines()]
    assert "tails (2) 10 60.00 % 60.00 % 2 2 100.00 %" in kinds
    assert "bursts (1) 5 60.00 % 60.00 % 1 1 100.00 %" in kinds
    parts = [" ".join(line.split()) for line in run(path, "--no-tshark", "--parts").splitlines()]
    assert "001-tails 5 60.00 % 60.00 % 1 1 100.00 %" in parts


def test_narrowing(corpus: Path) -> None:
    opened = open_corpus(corpus)
    assert opened.narrowed(flow=FLOW).retransmissions.height == 5
    with pytest.raises(UserError, match=r"no connection 1\.1\.1\.1:1"):
        opened.narrowed(flow="1.1.1.1:1 > 2.2.2.2:2")
    with pytest.raises(UserError, match="no capture of b") as caught:
        opened.narrowed(part="b")
    assert caught.value.usage


def test_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"it has no truth\.json"):
        open_corpus(tmp_path)
    write_corpus(tmp_path / "other", TRUTH)
    (tmp_path / "other" / "truth.json").write_text('{"version": 2}', encoding="utf-8")
    with pytest.raises(UserError, match="has version 2"):
        open_corpus(tmp_path / "other")


def test_no_captures(tmp_path: Path) -> None:
    path = write_corpus(tmp_path / "empty", TRUTH, captures=("a-nowhere.pcapng",))
    with pytest.raises(UserError, match="no captures"):
        open_corpus(path)
