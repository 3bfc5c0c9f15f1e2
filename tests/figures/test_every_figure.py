"""Every figure that a command draws: nothing cut off, nothing over anything else."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from tests.bursts.conftest import CONFIGS as OF_2017
from tests.bursts.conftest import WriteStudy, write_study
from tests.figures.layout import troubles
from tests.show.conftest import make_row, realistic_rows, write_folder

import rexmit
from rexmit.present.figures.style import styled
from rexmit_papers.library.study import UncStudy
from rexmit_validate.score import draw_reliability
from rexmit_validate.score.reliability import EDGES, WHAT, Bin, Reliability

__all__ = ["write_study"]

LONG = "a-configuration-with-a-name-that-somebody-wrote-out"


def checked(figures: Mapping[str, Figure], at_least: int = 1) -> None:
    """All of them are as they should be."""
    with styled():
        found = {name: wrong for name, one in figures.items() if (wrong := troubles(one))}
    assert found == {}
    assert len(figures) >= at_least


def test_of_the_study(four: UncStudy) -> None:
    checked(rexmit.paper_figures(four), 14)


def test_of_the_study_with_eight_long_names(eight: UncStudy) -> None:
    checked(rexmit.paper_figures(eight), 14)


def test_of_pages(tmp_path: Path) -> None:
    run = rexmit.open_run(write_folder(tmp_path / "run", realistic_rows(2)))
    checked(rexmit.plot(run))
    checked(rexmit.plot(run, x="network", colour="lost"))
    checked(rexmit.plot(run, x="config", facet=["network"], cells={"lost": "1..6"}))
    checked(rexmit.paper_figures(run), 6)


@pytest.mark.parametrize("configs", [1, 7, 12])
def test_of_pages_with_many_long_names(tmp_path: Path, configs: int) -> None:
    rows = [
        make_row(config=f"{LONG}-{config}", lost_segments=lost, network="a network " * 9)
        for config, lost in product(range(configs), (0, 7, 20))
    ]
    run = rexmit.open_run(write_folder(tmp_path / "run", rows))
    checked(rexmit.plot(run))
    checked(rexmit.plot(run, x="config", y="mss_bytes"))
    checked(rexmit.paper_figures(run), 2)


def test_of_pages_against_settings(tmp_path: Path) -> None:
    changes: list[dict[str, Any]] = [
        {},
        *({"receive_window_bytes": size} for size in (8_000, 32_000, 1_000_000)),
        *({"line_loss": share} for share in (0.001, 0.01, 0.03)),
        *({"congestion_control": name} for name in ("reno", "bbr")),
        *({"page_segments": size} for size in (10, 30, 300, 1_000)),
    ]
    rows = [
        make_row(cell=cell, config=config, **change)
        for config in ("er", "tlp")
        for cell, change in enumerate(changes)
    ]
    run = rexmit.open_run(write_folder(tmp_path / "run", rows))
    checked(rexmit.paper_figures(run, losses=5), 8)
    checked(rexmit.plot(run, x="window"))
    checked(rexmit.plot(run, x="page", facet=["window", "line_loss"], colour="congestion_control"))


@pytest.mark.parametrize("configs", [1, 6, 12])
def test_of_bursts_with_many_long_names(write_study: WriteStudy, configs: int) -> None:
    names = [f"{LONG[:30]}-{place}" for place in range(configs)]

    def change(row: dict[str, Any]) -> dict[str, Any]:
        place = OF_2017.index(row["config"])
        return {**row, "config": names[place % configs], "loss_pattern": "path 1 burst 2 data -1"}

    run = rexmit.open_run(write_study(lambda *_: 0.3, change))
    checked(rexmit.plot(run))
    checked(rexmit.plot(run, y="retransmissions"))


def test_of_bursts_and_ladders_of_their_paths(bursts: rexmit.Run) -> None:
    checked(rexmit.plot(bursts), 1)
    drawn = rexmit.paper_figures(bursts)
    checked(drawn, 10)
    assert {"figure-2", "figure-4", "figure-6"} < set(drawn)


def test_of_transfers(new: rexmit.Run) -> None:
    flows = [rexmit.open_flow(new, number) for number in range(0, new.transfers.height, 3)]
    checked({str(place): rexmit.draw_flow(flow) for place, flow in enumerate(flows)})
    checked(
        {str(place): rexmit.draw_flow(flow, as_ladder=True) for place, flow in enumerate(flows)}
    )


def test_of_a_connection_of_a_capture(traced: rexmit.Trace) -> None:
    checked({"worst": rexmit.draw_flow(rexmit.open_flow(traced))})


def test_of_two_runs_packet_by_packet(old: rexmit.Run, new: rexmit.Run) -> None:
    compared = rexmit.diff_packets(old, new, "1")
    for every in (False, True):
        checked({"parted": rexmit.draw_packets(compared, old, new, every_packet=every)})


@pytest.mark.parametrize("points", [1, 2, 4])
def test_of_a_score(points: int) -> None:
    bins = tuple(Bin(low, high, 40, 30, 40 * (low + high) / 2) for low, high in pairwise(EDGES))
    made = {f"point-{place}": {what: Reliability(bins) for what in WHAT} for place in range(points)}
    title = "How often rexmit trace is right, by how sure it is"
    with styled():
        checked({"reliability": draw_reliability.draw(made, title)})
