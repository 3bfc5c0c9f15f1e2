"""Whether what was said with a probability is so as often."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.score.conftest import (
    analyse,
    claim,
    claims_frame,
    retransmission,
    tables,
    truth_frame,
    write_corpus,
)

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.tracing.memory import Tables
from rexmit_validate.score.claims import of_trace
from rexmit_validate.score.corpus import open_corpus
from rexmit_validate.score.join import join
from rexmit_validate.score.reliability import (
    EDGES,
    Reliability,
    judged,
    measure,
    of_pairs,
    total,
)
from rexmit_validate.score.report import Report, by_itself, report

runner = CliRunner()


def measured(truth: list[dict[str, Any]], claims: list[dict[str, Any]]) -> dict[str, Reliability]:
    frame = truth_frame(truth).rename({"sender_ns": "at_ns"})
    return measure(judged(join(frame, of_trace(claims_frame(claims)))))


def counts(made: Reliability) -> dict[float, tuple[int, int]]:
    """(rows, right) of the bins that have any, by their lower edge."""
    return {one.low: (one.rows, one.right) for one in made.bins if one.rows}


def test_rows_are_counted_where_they_were_said() -> None:
    made = measured(
        [retransmission()], [claim(confidence=0.9, need_confidence=0.7, certainty=0.97)]
    )
    assert counts(made["mechanism"]) == {0.85: (1, 1)}
    assert counts(made["need"]) == {0.65: (1, 1)}
    assert counts(made["retransmission"]) == {0.95: (1, 1)}


def test_a_wrong_one_counts_as_wrong_for_what_is_wrong() -> None:
    made = measured([retransmission(mechanism="rack")], [claim(need="spurious")])
    assert counts(made["mechanism"]) == {0.95: (1, 0)}
    assert counts(made["need"]) == {0.85: (1, 0)}
    assert counts(made["retransmission"]) == {0.99: (1, 1)}


def test_an_invented_one_is_wrong_in_everything() -> None:
    made = measured([retransmission()], [claim(time_ns=2_000_000_000)])
    assert counts(made["mechanism"]) == {0.95: (1, 0)}
    assert counts(made["need"]) == {0.85: (1, 0)}
    assert counts(made["retransmission"]) == {0.99: (1, 0)}


def test_what_is_unknown_says_nothing() -> None:
    assert measured([retransmission()], [claim(mechanism="unknown")])["mechanism"].rows == 0
    assert measured([retransmission(mechanism="unknown")], [claim()])["mechanism"].rows == 0
    assert measured([retransmission(need="unknown")], [claim()])["need"].rows == 0


@pytest.mark.parametrize(("truth", "right"), [("tlp", 1), ("rto", 1), ("rack", 0)])
def test_tlp_or_rto_is_said_with_both_shares(truth: str, right: int) -> None:
    both = claim(
        mechanism="rto", confidence=0.5, runner_up="tlp", runner_up_confidence=0.4, either=True
    )
    made = measured([retransmission(mechanism=truth)], [both])
    assert counts(made["mechanism"]) == {0.85: (1, right)}


def test_each_bin_begins_at_its_lower_edge_and_the_last_has_both() -> None:
    made = of_pairs((edge, True) for edge in EDGES)
    assert [one.rows for one in made.bins] == [1, 1, 1, 1, 1, 1, 2]


def test_the_expected_calibration_error_weighs_bins_by_rows() -> None:
    pairs = [(0.9, True)] * 6 + [(0.9, False)] * 4 + [(0.3, False)] * 10
    assert of_pairs(pairs).error == pytest.approx((10 * 0.3 + 10 * 0.3) / 20)
    assert of_pairs([]).error is None


@pytest.mark.parametrize(
    ("right", "rows", "reached"),
    [
        (880, 1000, True),
        (920, 1000, True),
        (850, 1000, False),
        (950, 1000, False),
        (10, 10, None),
        (0, 0, None),
    ],
)
def test_rows_said_with_nine_tenths_are_to_be_right_as_often(
    right: int, rows: int, reached: bool | None
) -> None:
    made = of_pairs([(0.9, place < right) for place in range(rows)])
    assert made.reached is reached


def test_several_captures_add_up() -> None:
    one, other = of_pairs([(0.9, True)]), of_pairs([(0.9, False), (0.2, False)])
    both = total([{"mechanism": one}, {"mechanism": other}])["mechanism"]
    assert counts(both) == {0.0: (1, 0), 0.85: (2, 1)}


# Kinds.


def _of_kinds(tmp_path: Path, kinds: dict[str, str] | None) -> Report:
    """Two parts named alike and one other; only in `003-bursts+snapped` is anything wrong."""
    names = ("001-tails", "002-tails+snapped", "003-bursts+snapped")
    flow = "10.0.0.1:80 > 10.0.0.2:40000"
    rows = [
        {**retransmission(part=name), "sender_ns": place * 1_000_000_000}
        for name in names
        for place in range(20)
    ]
    ends: list[dict[str, Any]] = [
        {"part": name, "flow": flow, "stack": "linux-6.12"} for name in names
    ]
    if kinds is not None:
        ends = [{**end, "kind": kinds[end["part"]]} for end in ends]
    path = write_corpus(tmp_path / "t", rows, ends, [f"{name}-sender.pcapng" for name in names])

    def one(capture: Path) -> Tables:
        said = "rack" if "bursts" in capture.name else "rto"
        claims = [claim(time_ns=place * 1_000_000_000, mechanism=said) for place in range(20)]
        return tables(claims)

    return report(open_corpus(path), by_itself(one))


def test_parts_are_grouped_by_their_kind(tmp_path: Path) -> None:
    kinds = {
        "001-tails": "plain",
        "002-tails+snapped": "snapped",
        "003-bursts+snapped": "snapped",
    }
    found = _of_kinds(tmp_path, kinds).kinds("sender")
    assert [(kind, n, score.mechanisms.right) for kind, n, score in found] == [
        ("tails", 1, 20),
        ("snapped", 2, 20),
    ]


def test_a_corpus_that_names_no_kinds_is_grouped_by_names(tmp_path: Path) -> None:
    found = _of_kinds(tmp_path, None).kinds("sender")
    assert [kind for kind, *_ in found] == ["tails", "tails+snapped", "bursts+snapped"]


def test_a_kind_that_is_worse_stands_out_and_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.console import Console

    from rexmit.present.show import show
    from rexmit_validate.score.show_score import score_blocks

    kinds = {
        "001-tails": "plain",
        "002-tails+snapped": "plain",
        "003-bursts+snapped": "snapped",
    }
    show(score_blocks(_of_kinds(tmp_path, kinds)), Console(width=160))
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    first = lines.index(next(line for line in lines if line.startswith("part ")))
    assert lines[first + 2].startswith("003-bursts+snapped 20 0.00 %")
    assert lines[first + 2].endswith("mechanism worse than elsewhere")
    assert not lines[first + 3].endswith("elsewhere")


# The command line.


def test_printed_in_json_and_as_a_figure(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rexmit_validate.library.score.tables", analyse)
    figure = tmp_path / "figure.svg"
    words = ["validate", "score", str(corpus), "--no-tshark"]
    told = runner.invoke(app, words, catch_exceptions=False, env={"COLUMNS": "160"}).output
    assert "expected calibration error" in told
    made = runner.invoke(app, [*words, "--json", "--figure", str(figure)], catch_exceptions=False)
    data = json.loads(made.stdout)
    sender = data["points"]["sender"]["reliability"]["mechanism"]
    assert data["reliability"]["mechanism"]["rows"] == 7
    assert sender["rows"] == 5
    assert sum(one["rows"] for one in sender["bins"]) == 5
    assert "<svg" in figure.read_text(encoding="utf-8")


def test_a_figure_of_no_format_is_refused(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rexmit_validate.library.score.tables", analyse)
    words = ["validate", "score", str(corpus), "--no-tshark", "--figure", str(tmp_path / "a.gif")]
    with pytest.raises(UserError, match="there is no format gif"):
        runner.invoke(app, words, catch_exceptions=False)
