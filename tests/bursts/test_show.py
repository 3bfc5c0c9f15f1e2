"""`rexmit show`, `rexmit plot` and `rexmit paper mptcp-2017` of runs with bursts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.image import imread
from scipy.stats import t

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError

Write = Callable[..., Path]


def one_second(_config: str, _pair: tuple[int, int], _loss: str) -> float:
    """The same time for all."""
    return 1.0


def run(*words: str) -> str:
    """What a command prints; it must succeed."""
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return result.output


def test_a_table_for_each_loss(write_study: Write) -> None:
    text = run("paper", "mptcp-2017", str(write_study(one_second)), "--claims")
    assert text.count("Completion of the last burst") == 3
    assert "1.0000 0.0009" in text
    assert "mptcp-reinject on path 2" in text
    assert "2017" in text
    assert "expected to be wrong by chance" in text


def test_the_same_as_json(write_study: Write) -> None:
    data = json.loads(
        run("paper", "mptcp-2017", str(write_study(one_second)), "--claims", "--json")
    )
    assert len(data["bursts"]) == 5 * 5 * 3
    first = data["bursts"][0]
    assert first["delays_ms"] == [20.0, 20.0]
    assert first["completion"]["mean_s"] == 1.0
    assert first["first_retransmission"] == [
        {"mechanism": "mptcp-reinject", "path": 2, "connections": 8}
    ]
    assert len(data["claims"]) == 15


def test_several_runs_beside_each_other(write_study: Write) -> None:
    paths = [str(write_study(one_second, name=name)) for name in ("one", "two")]
    text = run("paper", "mptcp-2017", *paths)
    assert "(a) TCP, one lost" in text
    assert text.count("holds") >= 2
    # Both ran on the same kernel: their folders tell them apart.
    head = text[: text.index("(a) TCP")]
    assert "one" in head
    assert "two" in head


def test_any_run_has_its_own_words(write_study: Write, tmp_path: Path) -> None:
    study = str(write_study(one_second))
    text = run("show", study)
    assert "Completion of the last burst in seconds; path 1 burst 2 data -1\n" in text
    assert "the last packet" not in text
    assert len(json.loads(run("show", study, "--json"))["bursts"]) == 5 * 5 * 3
    run("plot", study, "--out", str(tmp_path / "f"), "--format", "png")
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == [
        "bursts-path-1-burst-2-data-1-1..2.png",
        "bursts-path-1-burst-2-data-1.png",
        "bursts-path-1-burst-2-data-2..-1.png",
    ]


def test_times_of_several_runs_beside_each_other(write_study: Write) -> None:
    paths = [str(write_study(one_second, name=name)) for name in ("one", "two")]
    text = run("show", *paths)
    assert text.count("Completion of the last burst in seconds; path 1") == 3
    assert len([line for line in text.splitlines() if line.split()[2::2] == ["1.0000"] * 2]) == 75
    data = json.loads(run("show", *paths, "--json"))
    assert [len(one["bursts"]) for one in data["runs"]] == [75, 75]


def test_tables_of_pages_are_refused(write_study: Write) -> None:
    study = str(write_study(one_second))
    for words in (["show", "--repairs"], ["show", "--losses", "1"], ["paper", "tlp-2013"]):
        result = CliRunner().invoke(app, [*words, study])
        assert isinstance(result.exception, UserError)
        assert result.exception.usage
        assert "the run has bursts" in str(result.exception)


def test_the_paper_s_figures(write_study: Write, tmp_path: Path) -> None:
    words = ("--out", str(tmp_path / "f"), "--format", "png")
    run("paper", "mptcp-2017", str(write_study(one_second)), *words)
    names = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert names == ["figure-2.png", "figure-4.png", "figure-6.png"]
    for name in names:
        # Bars of one second fill a good part of their panels, the more the lower the authors' are;
        # text and axes alone fill a tenth.
        picture = imread(tmp_path / "f" / name)
        inked = picture[..., :3].min(axis=2) < 0.9
        assert 0.15 < inked.mean() < 0.75, (name, inked.mean())


def test_a_bar_is_as_high_as_its_mean(write_study: Write) -> None:
    def by_configuration(config: str, _pair: tuple[int, int], _loss: str) -> float:
        return 0.5 if config == "tcp-tlp" else 2.0

    study = rexmit.open_run(write_study(by_configuration))
    drawn = {**rexmit.plot(study), **rexmit.paper_figures(study)}
    assert len(drawn) == 6
    for figure in drawn.values():
        for axes in figure.axes:
            bars = [found for found in axes.containers if isinstance(found, BarContainer)]
            heights = {str(one.get_label()): {bar.get_height() for bar in one} for one in bars}
            assert heights
            for config, found in heights.items():
                assert found == {0.5 if config == "tcp-tlp" else 2.0}, config
            # Eight connections, a millisecond to either side of the mean.
            half = t.interval(0.95, 7, scale=0.001 * (8 / 7) ** 0.5 / 8**0.5)[1]
            for bar in (one for one in axes.containers if isinstance(one, ErrorbarContainer)):
                ends = [segment[:, 1] for segment in bar.lines[2][0].get_segments()]
                assert [(high - low) / 2 for low, high in ends] == pytest.approx([half] * len(ends))
