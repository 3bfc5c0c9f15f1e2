"""rexmit judged, from a program."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import rexmit
from rexmit.progress import Step
from rexmit_validate.whatif import transfers


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpora") / "c"
    rexmit.synth(mix="wireless", connections=40, seed=7, stacks=["linux-6.12"], out=out)
    return out


def test_a_corpus_is_scored(corpus: Path) -> None:
    steps: list[Step] = []
    made = rexmit.score(corpus, with_tshark=False, progress=steps.append)
    truth = rexmit.open_corpus(corpus).retransmissions
    assert made.points == ("sender", "switch", "receiver")
    there = truth["sender_ns"].drop_nulls().len()
    assert made.at("sender").mechanisms.retransmissions == there
    assert [step.note for step in steps if step.note] == [
        f"wireless-{point}.pcapng" for point in ("sender", "switch", "receiver")
    ]
    assert (steps[-1].done, steps[-1].total) == (3, 3)
    assert rexmit.draw_score(made).axes
    alone = rexmit.score(rexmit.open_corpus(corpus), point="switch", with_tshark=False)
    assert alone.points == ("switch",)


def test_mixes_and_kinds_are_told() -> None:
    assert "wireless" in rexmit.synth_mixes()
    assert "ids-host" in rexmit.synth_kinds()


def test_predictions_are_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(transfers, "PATTERNS", ("none", "data -1", "data 2"))
    monkeypatch.setattr(transfers, "SEGMENTS", (12,))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    steps: list[Step] = []
    made = rexmit.check_whatif(
        stack="linux-2.4", settings=["min_rto=100ms"], out=tmp_path / "w", progress=steps.append
    )
    assert [row["setting"] for row in made.rows] == ["min_rto=100ms"]
    assert pl.read_parquet(tmp_path / "w" / "check.parquet").height
    assert (steps[-1].done, steps[-1].total, steps[-1].unit) == (1, 1, "senders")
    assert not (tmp_path / "cache").exists(), "only a check of all is kept"


def test_what_is_unknown_of_a_bench(tmp_path: Path) -> None:
    file = tmp_path / "unknowns.toml"
    file.write_text(
        'format = 1\n[[unknown]]\nname = "window"\nabout = "small"\n'
        'set = ["workload.receive_window=32kB"]\n'
    )
    steps: list[Step] = []
    table = rexmit.sensitivity(
        "tlp-2013", unknowns=file, repeat=1, out=tmp_path / "runs", progress=steps.append
    )
    assert [row.name for row in table.rows] == ["as written down", "window"]
    assert [step.note for step in steps if step.note] == ["window: small"]
    assert (steps[-1].done, steps[-1].total) == (2, 2)


def test_no_logs_no_agreement(tmp_path: Path) -> None:
    with pytest.raises(rexmit.Error, match=r"is no folder of .* \(agree.json: No such file"):
        rexmit.agree_again(tmp_path)
    with pytest.raises(rexmit.Error, match="there is no stack linux-9"):
        rexmit.agree_again(tmp_path, stack="linux-9")
    with pytest.raises(rexmit.Error, match="1-0 is neither a scenario"):
        rexmit.agree_case(tmp_path / "1-0")


@pytest.mark.kernel
def test_a_kernel_and_the_model(tmp_path: Path) -> None:
    steps: list[Step] = []
    found = rexmit.agree(cases=3, seed=4, keep=tmp_path / "logs", progress=steps.append)
    assert found.rates.cases + found.rates.failed == 3
    assert (steps[-1].done, steps[-1].total) == (3, 3)
    assert rexmit.agree_again(found.folder).as_json() == found.as_json()
    one = rexmit.agree_case(found.folder / "4-0")
    assert one.case.name == "4-0"
    assert one.agrees == (not any("4-0" in names for names in found.rates.kinds.values()))
    with pytest.raises(rexmit.Error, match="no kernel log of a case 4-9"):
        rexmit.agree_case(found.folder / "4-9")


@pytest.mark.kernel
def test_a_corpus_of_a_kernel(tmp_path: Path) -> None:
    steps: list[Step] = []
    made = rexmit.truth(connections=8, seed=3, out=tmp_path / "t", progress=steps.append)
    assert made.meta["kind"] == "kernel"
    assert steps[-1].done == steps[-1].total
    with pytest.raises(rexmit.Error, match="there already") as caught:
        rexmit.truth(connections=8, seed=3, out=tmp_path / "t")
    assert "`out`" in str(caught.value.hint)
