"""`rexmit show` and `rexmit plot` of runs with bursts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from matplotlib.container import BarContainer
from matplotlib.image import imread
from typer.testing import CliRunner

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
    text = run("show", str(write_study(one_second)), "--claims")
    assert text.count("Completion of the last burst") == 3
    assert "1.0000 0.0014" in text
    assert "mptcp-reinject on path 2" in text
    assert "2017" in text
    assert "of 15 hold" in text


def test_the_same_as_json(write_study: Write) -> None:
    data = json.loads(run("show", str(write_study(one_second)), "--claims", "--json"))
    assert len(data["bursts"]) == 5 * 5 * 3
    first = data["bursts"][0]
    assert first["delays_ms"] == [20.0, 20.0]
    assert first["completion"]["mean_s"] == 1.0
    assert first["first_retransmission"] == [
        {"mechanism": "mptcp-reinject", "path": 2, "connections": 2}
    ]
    assert len(data["claims"]) == 15


def test_several_runs_beside_each_other(write_study: Write) -> None:
    paths = [str(write_study(one_second, name=name)) for name in ("one", "two")]
    text = run("show", *paths, "--claims")
    assert "(a) TCP, one lost" in text
    assert text.count("holds") >= 2
    # Both ran on the same kernel: their folders tell them apart.
    head = text[: text.index("(a) TCP")]
    assert "one" in head
    assert "two" in head


def test_tables_of_pages_are_refused(write_study: Write) -> None:
    result = CliRunner().invoke(app, ["show", str(write_study(one_second)), "--table1"])
    assert isinstance(result.exception, UserError)
    assert result.exception.usage
    assert "bursts have no Table 1" in str(result.exception)


def test_the_paper_s_figures(write_study: Write, tmp_path: Path) -> None:
    run("plot", str(write_study(one_second)), "--out", str(tmp_path / "f"), "--format", "png")
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

    for figure in rexmit.figures(rexmit.open_run(write_study(by_configuration))).values():
        for axes in figure.axes:
            bars = [found for found in axes.containers if isinstance(found, BarContainer)]
            heights = {str(one.get_label()): {bar.get_height() for bar in one} for one in bars}
            assert heights
            for config, found in heights.items():
                assert found == {0.5 if config == "tcp-tlp" else 2.0}, config
