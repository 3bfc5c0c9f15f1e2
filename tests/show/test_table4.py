"""Table 4 against frames small enough to work out by hand."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from rich.console import Console
from tests.show.conftest import NETWORKS

from rexmit.analysis.leave_out import Reason
from rexmit.analysis.losses import numbers
from rexmit.errors import UserError
from rexmit.papers.ryll_2013.print_table4 import print_table4
from rexmit.papers.ryll_2013.table4 import Block, Entry, Table4, table4
from rexmit.store.open_run import open_run

Rows = Callable[..., Any]


def block(table: Table4, network: str = "high-speed") -> Block:
    """The one block of a network."""
    (found,) = [b for b in table.blocks if b.network == network]
    return found


def entry(entries: tuple[Entry, ...], config: str) -> Entry:
    (found,) = [e for e in entries if e.config == config]
    return found


def test_means_and_sample_deviation(row: Rows, write_run: Rows) -> None:
    run = open_run(
        write_run(
            [row(repetition=i, t_total_s=t, t_recover_s=t / 2) for i, t in enumerate((1, 2, 4))]
        )
    )
    total = entry(block(table4(run)).t_total, "er").spread
    assert total.n == 3
    assert total.mean_s == pytest.approx(7 / 3)
    # squares of -4/3, -1/3, 5/3 add up to 42/9; over n - 1 = 2 that is 7/3
    assert total.sd_s == pytest.approx((7 / 3) ** 0.5)
    recover = entry(block(table4(run)).t_recover, "er").spread
    assert recover.sd_s == pytest.approx((7 / 3) ** 0.5 / 2)


def test_times_to_the_letter_stand_beside_ours_where_they_are_others(
    row: Rows, write_run: Rows
) -> None:
    probe = {"t_total_printed_s": 0.25, "t_recover_printed_s": None}
    run = open_run(write_run([row(t_total_s=0.3, t_recover_s=0.2) | probe]))
    found = block(table4(run))
    assert entry(found.t_total, "er").to_the_letter.mean_s == 0.25
    assert entry(found.t_recover, "er").to_the_letter.mean_s is None
    text = io.StringIO()
    print_table4(table4(run), Console(file=text, width=100))
    lines = [" ".join(line.split()) for line in text.getvalue().splitlines()]
    assert lines.count("to the letter 0.2500") == 1
    assert any(line.startswith("to the letter: t_total until the FIN") for line in lines)


def test_a_campaign_is_what_the_parquet_says(campaign: Rows, write_run: Rows) -> None:
    """The same means and percentages, computed by polars from the file alone."""
    path = write_run(campaign(7))
    counted = pl.read_parquet(path / "transfers.parquet").filter(
        (pl.col("lost_segments") == 5) & ((pl.col("config") != "tlp") | pl.col("is_tlp"))
    )
    means = counted.group_by("network", "config").agg(pl.col("t_total_s", "t_recover_s").mean())
    by_cell = {(n, c): (t, r) for n, c, t, r in means.iter_rows()}
    assert len(by_cell) == 9
    for found in table4(open_run(path)).blocks:
        base = by_cell[found.network, "er"]
        for i, entries in enumerate((found.t_total, found.t_recover)):
            for one in entries:
                mean = by_cell[found.network, one.config][i]
                assert one.spread.mean_s == pytest.approx(mean)
                gain = None if one.config == "er" else pytest.approx(100 * mean / base[i] - 100)
                assert one.percent == gain


def test_one_transfer_has_no_deviation(row: Rows, write_run: Rows) -> None:
    spread = entry(block(table4(open_run(write_run([row()])))).t_total, "er").spread
    assert (spread.n, spread.mean_s, spread.sd_s) == (1, 0.3, None)


def test_percent_is_against_er(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config=c, cell=i, t_total_s=t, is_tlp=c == "tlp") for i, (c, t) in enumerate(_THREE)
    ]
    table = table4(open_run(write_run(rows)))
    totals = block(table).t_total
    assert table.baseline == "er"
    assert entry(totals, "plain").percent == pytest.approx(20)
    assert entry(totals, "er").percent is None
    assert entry(totals, "tlp").percent == pytest.approx(-50)


_THREE = (("plain", 1.2), ("er", 1.0), ("tlp", 0.5))


def test_without_er_the_first_configuration_is_the_baseline(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="bbr-off", cell=0, t_total_s=2.0),
        row(config="bbr-on", cell=1, t_total_s=1.0),
    ]
    table = table4(open_run(write_run(rows)))
    assert table.baseline == "bbr-off"
    assert entry(block(table).t_total, "bbr-on").percent == pytest.approx(-50)
    assert entry(block(table).t_total, "bbr-on").paper is None


def test_the_papers_figure_stands_beside(row: Rows, write_run: Rows) -> None:
    rows = [row(config="er", t_total_s=0.3), row(config="tlp", cell=1, t_total_s=0.2, is_tlp=True)]
    found = entry(block(table4(open_run(write_run(rows)))).t_total, "tlp")
    assert found.paper is not None
    assert found.paper.mean_s == 0.2214
    assert found.paper.percent == pytest.approx((0.2214 - 0.3574) / 0.3574 * 100)
    assert found.paper.difference_s == pytest.approx(0.2 - 0.2214)
    assert found.paper.difference_percent == pytest.approx((0.2 - 0.2214) / 0.2214 * 100)


@pytest.mark.parametrize(
    "other",
    [
        {"lost_segments": 4},
        {"network": "lab"},
        {"config": "mine"},
        {"page_segments": 50},
        {"line_loss": 0.01},
        {"receive_window_bytes": 65536},
        {"congestion_control": "bbr"},
    ],
)
def test_no_paper_beside_what_the_paper_did_not_run(
    row: Rows, write_run: Rows, other: dict[str, Any]
) -> None:
    (found,) = table4(open_run(write_run([row(**other)]))).blocks[0].t_total
    assert found.spread.n == 1
    assert found.paper is None


def test_no_paper_beside_a_network_set_otherwise(row: Rows, write_run: Rows) -> None:
    networks = {"high-speed": {"rate": "100Mbit", "delay": "5ms"}}
    found = block(table4(open_run(write_run([row()], scenario={"networks": networks}))))
    assert found.setting.title == "100 Mbit/s, 20 ms RTT"
    assert entry(found.t_total, "er").paper is None


def test_links_of_their_own_make_the_network(row: Rows, write_run: Rows) -> None:
    links = [{"rate": "1Gbit", "delay": "4ms"}, {"delay": "1ms"}]
    networks = {"high-speed": {"rate": "100Mbit", "links": links}}
    found = block(table4(open_run(write_run([row()], scenario={"networks": networks}))))
    assert found.setting.title == "100 Mbit/s, 10 ms RTT"
    assert entry(found.t_total, "er").paper is not None


def test_what_the_network_is_besides(row: Rows, write_run: Rows) -> None:
    link = {"rate": "100Mbit", "delay": "2.5ms"}
    for more, told, compared in (
        ({"jitter": "0s", "loss": "0%", "queue": 1000, "at": "wire"}, "", True),
        ({"loss": "2%", "at": "host"}, ", line loss 2%, links acting at the host", True),
        ({"jitter": "1ms", "queue": 10}, ", jitter 1ms, queue 10", False),
        ({"loss": ["0%", "1%"]}, "", True),
        ({"links": [{"loss": "1%"}, {"rate": "1Gbit"}]}, ", line loss 1% and 0%", True),
    ):
        run = open_run(write_run([row()], scenario={"networks": {"high-speed": {**link, **more}}}))
        found = block(table4(run))
        assert found.setting.title == f"100 Mbit/s, 10 ms RTT{told}"
        assert (entry(found.t_total, "er").paper is not None) is compared


def test_tlp_transfers_without_a_probe_are_left_out(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", repetition=0, is_tlp=True, t_total_s=1.0, mechanism="tlp"),
        row(config="tlp", repetition=1, is_tlp=False, t_total_s=9.0, mechanism="rto"),
        row(config="tlp", repetition=2, is_tlp=None, t_total_s=3.0, mechanism="tlp"),
        row(config="er", cell=1, is_tlp=False, t_total_s=2.0),
    ]
    found = block(table4(open_run(write_run(rows))))
    tlp = found.cells["tlp"]
    assert (tlp.transfers, tlp.used) == (3, 2)
    assert tlp.left_out == {Reason.NOT_PROBED: 1}
    assert tlp.t_total.mean_s == 2.0
    # what made the first retransmission is told of all transfers: that is why they are left out
    assert tlp.first_retransmission == {"tlp": 2, "rto": 1}
    assert found.cells["er"].left_out == {}


def test_what_is_left_out_follows_from_the_scenario_and_not_from_a_name(
    row: Rows, write_run: Rows
) -> None:
    rows = [
        row(config=config, cell=cell, repetition=number, is_tlp=bool(number))
        for cell, config in enumerate(("tlp", "probing"))
        for number in range(2)
    ]
    configs = {"tlp": {}, "probing": {"leave_out": ["not-probed"]}}
    scenario = {"networks": NETWORKS, "configs": configs}
    cells = block(table4(open_run(write_run(rows, scenario=scenario)))).cells
    assert cells["tlp"].left_out == {}
    assert cells["probing"].left_out == {Reason.NOT_PROBED: 1}


def test_on_a_lossy_line_a_tlp_transfer_without_a_probe_counts(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", line_loss=0.01, is_tlp=True, t_total_s=3.0),
        row(config="tlp", line_loss=0.01, is_tlp=False, t_total_s=1.0) | {"repetition": 1},
    ]
    cell = block(table4(open_run(write_run(rows)))).cells["tlp"]
    assert (cell.used, cell.left_out, cell.not_probed) == (2, {}, 1)
    assert cell.t_total.mean_s == 2.0


def test_each_transfer_is_left_out_for_one_reason(row: Rows, write_run: Rows) -> None:
    rows = [
        row(repetition=0, complete=False, stalled=True, exact=False, t_total_s=None),
        row(repetition=1, stalled=True, exact=False),
        row(repetition=2, exact=False, t_total_s=7.0),
        row(repetition=3, t_total_s=1.0),
    ]
    run = open_run(write_run(rows))
    cell = block(table4(run)).cells["er"]
    assert cell.left_out == {Reason.INCOMPLETE: 1, Reason.STALLED: 1, Reason.INEXACT: 1}
    assert cell.t_total.mean_s == 1.0
    kept = block(table4(run, keep_inexact=True)).cells["er"]
    assert kept.left_out == {Reason.INCOMPLETE: 1, Reason.STALLED: 1}
    assert kept.t_total.mean_s == 4.0


def test_a_cell_without_a_transfer_is_empty_not_missing(row: Rows, write_run: Rows) -> None:
    rows = [row(config="er"), row(config="tlp", cell=1, lost_segments=4)]
    found = block(table4(open_run(write_run(rows))))
    assert found.configs == ("er", "tlp")
    assert entry(found.t_total, "tlp").spread.n == 0
    assert entry(found.t_total, "tlp").percent is None


def test_swept_settings_are_never_averaged_together(row: Rows, write_run: Rows) -> None:
    rows = [
        row(cell=i, congestion_control=cc, receive_window_bytes=window, t_total_s=float(i))
        for i, (cc, window) in enumerate(
            [("cubic", None), ("cubic", 65536), ("bbr", None), ("bbr", 65536)]
        )
    ]
    table = table4(open_run(write_run(rows)))
    assert [(b.group.words, b.t_total[0].spread.mean_s) for b in table.blocks] == [
        ("default receive window, cubic", 0.0),
        ("receive window 64 KiB, cubic", 1.0),
        ("default receive window, bbr", 2.0),
        ("receive window 64 KiB, bbr", 3.0),
    ]
    assert [b.t_total[0].paper is not None for b in table.blocks] == [True, False, False, False]


def test_what_departs_from_a_base_is_named_alone(row: Rows, write_run: Rows) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"page_segments": 10},
        {"page_segments": None, "transfer_size_bytes": 2_000_001},
        {"line_loss": 0.001},
        {"congestion_control": "bbr"},
    ]
    rows = [row(cell=i, **change) for i, change in enumerate(changes)]
    found = [b.group for b in table4(open_run(write_run(rows))).blocks]
    assert [(g.words, g.slug, g.is_base) for g in found] == [
        ("page of 100 segments, no line loss, cubic", "", True),
        ("page of 10 segments", "page-segments-10", False),
        ("page of 2,000,001 bytes", "page-2000001", False),
        ("line loss 0.1%", "line-loss-0.001", False),
        ("bbr", "bbr", False),
    ]


@pytest.mark.parametrize(
    "pairs",
    [
        [(10, "cubic"), (10, "bbr"), (100, "cubic"), (100, "bbr")],  # every combination
        [(10, "cubic"), (100, "bbr")],  # nothing is usual
        [(100, "cubic"), (100, "bbr"), (10, "cubic"), (1000, "reno")],  # one departs in both
    ],
)
def test_other_grids_have_no_base(row: Rows, write_run: Rows, pairs: list[tuple[int, str]]) -> None:
    rows = [
        row(cell=i, page_segments=segments, congestion_control=cc)
        for i, (segments, cc) in enumerate(pairs)
    ]
    found = [b.group for b in table4(open_run(write_run(rows))).blocks]
    assert not any(g.is_base for g in found)
    assert [g.words for g in found] == [f"page of {n} segments, {cc}" for n, cc in pairs]
    assert len({g.slug for g in found}) == len(pairs)


def test_sizes_in_bytes_are_an_axis(row: Rows, write_run: Rows) -> None:
    rows = [
        row(cell=i, page_segments=None, transfer_size_bytes=size)
        for i, size in enumerate((10_000, 20_000))
    ]
    words = [b.group.words for b in table4(open_run(write_run(rows))).blocks]
    assert words == ["page of 10 kB", "page of 20 kB"]


def test_what_comes_with_the_network_is_no_axis(row: Rows, write_run: Rows) -> None:
    rows = [row(), row(network="lossy", cell=1, line_loss=0.01)]
    assert [b.group.words for b in table4(open_run(write_run(rows))).blocks] == ["", ""]


def test_cells_that_no_column_tells_apart_stay_apart(row: Rows, write_run: Rows) -> None:
    rows = [row(cell=i, t_total_s=float(i)) for i in range(2)]
    table = table4(open_run(write_run(rows)))
    assert [(b.group.words, b.t_total[0].spread.mean_s) for b in table.blocks] == [
        ("variant 1", 0.0),
        ("variant 2", 1.0),
    ]


def test_another_number_of_losses(row: Rows, write_run: Rows) -> None:
    run = open_run(write_run([row(cell=n, lost_segments=n, t_total_s=float(n)) for n in range(7)]))
    assert table4(run).lost_segments == 5
    ten = table4(run, 6)
    assert ten.blocks[0].t_total[0].spread.mean_s == 6.0
    with pytest.raises(UserError) as caught:
        table4(run, 7)
    assert caught.value.hint == "it has 0..6; choose with `losses` N"


@pytest.mark.parametrize("losses", [(1, 10), (10,), (0, 3)])
def test_a_grid_without_five_shows_the_most_there_is(
    row: Rows, write_run: Rows, losses: tuple[int, ...]
) -> None:
    run = open_run(write_run([row(cell=n, lost_segments=n) for n in losses]))
    assert table4(run).lost_segments == max(losses)


def test_spurious_retransmissions_are_added_up_where_known(row: Rows, write_run: Rows) -> None:
    rows = [
        row(repetition=0, spurious_retransmissions=2),
        row(repetition=1, spurious_retransmissions=None),
        row(repetition=2, spurious_retransmissions=1),
        row(config="tlp", cell=1, is_tlp=True, spurious_retransmissions=None),
    ]
    cells = block(table4(open_run(write_run(rows)))).cells
    assert cells["er"].spurious_retransmissions == 3
    assert cells["tlp"].spurious_retransmissions is None


@pytest.mark.parametrize(
    ("values", "text"), [((3,), "3"), ((1, 2), "1, 2"), ((0, 1, 2), "0..2"), ((0, 1, 3), "0, 1, 3")]
)
def test_numbers(values: tuple[int, ...], text: str) -> None:
    assert numbers(values) == text
