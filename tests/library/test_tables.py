"""Tables, figures and single transfers of runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import rexmit


def test_an_overview_says_what_ran(new: rexmit.Run) -> None:
    seen = rexmit.overview(new)
    assert (seen.transfers, seen.scenario, seen.failed) == (8, "tlp-2013", ())
    assert any(one.config == "er" for one in seen.ignored)


def test_runs_beside_each_other(new: rexmit.Run, old: rexmit.Run) -> None:
    table = rexmit.beside([old, new], losses=2)
    assert table.runs == (old, new)
    assert {line.config for section in table.sections for line in section.lines} >= {"er", "tlp"}
    assert all(len(line.values) == 2 for section in table.sections for line in section.lines)


def test_times_have_the_means_of_the_transfers(new: rexmit.Run) -> None:
    table = rexmit.times(new, losses=1)
    (block,) = table.blocks
    assert (table.lost_segments, block.network, block.configs) == ((1,), "mobile", ("er", "tlp"))
    for entry in block.t_recover:
        mine = new.transfers.filter(config=entry.config, lost_segments=1)["t_recover_s"]
        assert entry.spread.mean_s == pytest.approx(mine.mean())
    assert rexmit.times(new).lost_segments == (1, 2)
    with pytest.raises(rexmit.Error, match="no transfer with 9 lost"):
        rexmit.times(new, losses=9)


def test_repairs_have_a_row_for_each_configuration_and_loss(new: rexmit.Run) -> None:
    rows = rexmit.repairs(new)
    assert {(row.config, row.lost_segments) for row in rows} == {
        (config, (lost,)) for config in ("er", "tlp") for lost in (1, 2)
    }
    assert [row.transfers for row in rexmit.repairs(new, losses=2)] == [2, 2]


def test_bursts_are_no_page(new: rexmit.Run, bursts: rexmit.Run) -> None:
    found = rexmit.bursts(bursts)
    assert found.networks == ("20-20",)
    assert all(case.connections == 1 for case in found.cases.values())
    with pytest.raises(rexmit.Error, match="no bursts"):
        rexmit.bursts(new)
    for call in (rexmit.times, rexmit.repairs):
        with pytest.raises(rexmit.Error, match="the run has bursts") as caught:
            call(bursts)
        assert "`bursts` has their times" in str(caught.value.hint)


def test_figures_are_drawn_and_kept(new: rexmit.Run, bursts: rexmit.Run, tmp_path: Path) -> None:
    drawn = rexmit.plot(new)
    paths = rexmit.save_figures(drawn, tmp_path / "f", formats=["png", "svg"])
    assert [path.name for path in paths] == [
        f"{name}.{ending}" for name in drawn for ending in ("png", "svg")
    ]
    assert all(path.stat().st_size for path in paths)
    assert all(name.startswith("bursts-path-1-burst-2") for name in rexmit.plot(bursts))
    with pytest.raises(rexmit.Error, match="`losses` counts segments"):
        rexmit.paper_figures(bursts, losses=1)
    with pytest.raises(AttributeError, match="is now rexmit"):
        rexmit.figures  # noqa: B018 - its name is told
    with pytest.raises(rexmit.Error, match="`formats`: gif is not known"):
        rexmit.save_figures(drawn, tmp_path, formats=["gif"])
    assert not list(tmp_path.glob("*.gif"))


def test_a_transfer_packet_by_packet(new: rexmit.Run, bursts: rexmit.Run) -> None:
    row = new.transfers["mechanism"].to_list().index("tlp")
    flow = rexmit.open_flow(new, row)
    assert flow.row["config"] == "tlp"
    frame = pl.DataFrame(flow.steps)
    assert frame.filter(pl.col("dropped")).height == flow.row["dropped_packets"]
    assert "tlp" in frame["mechanism"].to_list()
    assert rexmit.draw_flow(flow).axes
    over_paths = rexmit.open_flow(bursts, 0)
    assert rexmit.draw_flow(over_paths).axes
    for which in (None, "A > B"):
        with pytest.raises(rexmit.Error, match="the transfers of a run have numbers") as caught:
            rexmit.open_flow(new, which)
        assert "`at` belongs to a trace" in str(caught.value.hint)
    with pytest.raises(rexmit.Error, match="no flow 99"):
        rexmit.open_flow(new, 99)


def test_two_runs_packet_by_packet(new: rexmit.Run, old: rexmit.Run) -> None:
    found = rexmit.diff_packets(old, new, "tlp 2")
    assert found.senders is not None
    assert (found.a.row["config"], found.b.row["config"]) == ("tlp", "tlp")
    assert rexmit.draw_packets(found, old, new).axes
    same = rexmit.diff_packets(new, new.path, "tlp 2", tolerance="0ms")
    assert same.first is None
    later = rexmit.diff_packets(old, new, "tlp 2/1", ignore=[])
    assert later.repetition == 1
    with pytest.raises(rexmit.Error, match="2 cells of both runs"):
        rexmit.diff_packets(old, new, "tlp")
    with pytest.raises(rexmit.Error, match="`tolerance` soon: "):
        rexmit.diff_packets(old, new, "tlp 2", tolerance="soon")


def test_a_run_is_judged_by_another(new: rexmit.Run, old: rexmit.Run) -> None:
    found = rexmit.diff(old, new, cells=["lost=1,2"])
    judged = rexmit.worse_than(found, "0%")
    labels = {cell.label for cell in found.cells}
    assert {one.label for one in judged.findings} <= labels
    assert judged.findings, "ten years of changes"
    assert rexmit.worse_than(found, 0.0) == judged
