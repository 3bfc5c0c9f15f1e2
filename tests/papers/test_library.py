"""What `import rexmit` offers of papers."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.library.conftest import bursts, new, old

import rexmit

__all__ = ["bursts", "new", "old"]


def test_table_4_has_the_means_of_the_transfers(new: rexmit.Run) -> None:
    table = rexmit.table4(new, losses=1)
    (block,) = table.blocks
    assert (table.lost_segments, block.network, block.configs) == ((1,), "mobile", ("er", "tlp"))
    for entry in block.t_recover:
        mine = new.transfers.filter(config=entry.config, lost_segments=1)["t_recover_s"]
        assert entry.spread.mean_s == pytest.approx(mine.mean())
    assert rexmit.table4(new).lost_segments == (2,), "of those without the paper's five the most"
    with pytest.raises(rexmit.Error, match="no transfer with 9 lost"):
        rexmit.table4(new, losses=9)


def test_table_1_has_a_row_for_each_loss(new: rexmit.Run) -> None:
    assert [row.lost_segments for row in rexmit.table1(new).rows] == [(1,), (2,)]
    assert [row.transfers for row in rexmit.table1(new, losses=2).rows] == [2]


def test_claims_become_a_frame(new: rexmit.Run, bursts: rexmit.Run) -> None:
    for run in (new, bursts):
        claims = rexmit.claims(run)
        frame = pl.DataFrame(
            {"key": [one.key for one in claims], "is": [one.word for one in claims]}
        )
        assert set(frame["is"]) <= {"holds", "does not", "undecided", "-"}
        assert any(part.interval for claim in claims for part in claim.parts)
    assert rexmit.claims(new)[0].key != rexmit.claims(bursts)[0].key


def test_runs_beside_the_paper(new: rexmit.Run, old: rexmit.Run) -> None:
    table = rexmit.table4_beside([old, new], losses=2)
    assert table.runs == (old, new)
    assert {line.config for section in table.sections for line in section.lines} >= {"er", "tlp"}


def test_bursts_are_no_page(bursts: rexmit.Run) -> None:
    for call in (rexmit.table1, rexmit.table4):
        with pytest.raises(rexmit.Error, match="the run has bursts"):
            call(bursts)


def test_figures_are_the_papers(new: rexmit.Run, bursts: rexmit.Run) -> None:
    assert "figure-5b" in rexmit.paper_figures(new)
    names = set(rexmit.paper_figures(bursts))
    assert "figure-2" in names
    assert any(name.startswith("figure-3-i-a-") for name in names), "it kept captures"
    with pytest.raises(rexmit.Error, match="`losses` counts segments"):
        rexmit.paper_figures(bursts, losses=1)


def test_a_page_has_what_the_paper_prints(
    new: rexmit.Run, bursts: rexmit.Run, tmp_path: Path
) -> None:
    for run, name in ((new, "tlp-2013"), (bursts, "mptcp-2017")):
        page = rexmit.paper_page(run)
        part = page.page_part(0)
        assert part.sections[-1].title == "Claims"
        assert part.sections[-1].command == f"rexmit paper {name} {run.path} --claims"
        assert any(line.of for figure in part.figures for line in figure.lines) is (run is bursts)
        assert any("of the paper" in figure.title for figure in part.figures)
        made = rexmit.report(page, tmp_path / f"{name}.html")
        assert made.about == (f"run {run.path}",)
