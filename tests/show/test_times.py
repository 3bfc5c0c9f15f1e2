"""Times against frames small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.show.conftest import NETWORKS

from rexmit.analysis.leave_out import Reason
from rexmit.analysis.losses import numbers
from rexmit.analysis.times import Block, Entry, Times, percent, times
from rexmit.errors import UserError
from rexmit.store.open_run import open_run
from rexmit.wording import signed_percent

Rows = Callable[..., Any]


def block(table: Times, network: str = "high-speed") -> Block:
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
    total = entry(block(times(run)).t_total, "er").spread
    assert total.n == 3
    assert total.mean_s == pytest.approx(7 / 3)
    # squares of -4/3, -1/3, 5/3 add up to 42/9; over n - 1 = 2 that is 7/3
    assert total.sd_s == pytest.approx((7 / 3) ** 0.5)
    recover = entry(block(times(run)).t_recover, "er").spread
    assert recover.sd_s == pytest.approx((7 / 3) ** 0.5 / 2)


def test_a_campaign_is_what_the_parquet_says(campaign: Rows, write_run: Rows) -> None:
    """The same means and percentages, computed by polars from the file alone."""
    path = write_run(campaign(7))
    counted = pl.read_parquet(path / "transfers.parquet").filter(
        (pl.col("lost_segments") == 5) & ((pl.col("config") != "tlp") | pl.col("is_tlp"))
    )
    means = counted.group_by("network", "config").agg(pl.col("t_total_s", "t_recover_s").mean())
    by_cell = {(n, c): (t, r) for n, c, t, r in means.iter_rows()}
    assert len(by_cell) == 9
    for found in times(open_run(path), 5, baseline="er").blocks:
        base = by_cell[found.network, "er"]
        for i, entries in enumerate((found.t_total, found.t_recover)):
            for one in entries:
                mean = by_cell[found.network, one.config][i]
                assert one.spread.mean_s == pytest.approx(mean)
                gain = None if one.config == "er" else pytest.approx(100 * mean / base[i] - 100)
                assert one.percent == gain


def test_one_transfer_has_no_deviation(row: Rows, write_run: Rows) -> None:
    spread = entry(block(times(open_run(write_run([row()])))).t_total, "er").spread
    assert (spread.n, spread.mean_s, spread.sd_s) == (1, 0.3, None)


def test_the_first_configuration_is_the_baseline_or_the_one_named(
    row: Rows, write_run: Rows, tmp_path: Path
) -> None:
    rows = [
        row(config="bbr-off", cell=0, t_total_s=2.0),
        row(config="bbr-on", cell=1, t_total_s=1.0),
    ]
    table = times(open_run(write_run(rows)))
    assert table.baseline == "bbr-off"
    assert entry(block(table).t_total, "bbr-on").percent == pytest.approx(-50)
    other = times(open_run(tmp_path / "RUN"), baseline="bbr-on")
    assert entry(block(other).t_total, "bbr-off").percent == pytest.approx(100)
    assert entry(block(other).t_total, "bbr-on").percent is None
    with pytest.raises(UserError, match="`baseline` none: the run has no such configuration"):
        times(open_run(tmp_path / "RUN"), baseline="none")


def test_tlp_transfers_without_a_probe_are_left_out(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", repetition=0, is_tlp=True, t_total_s=1.0, mechanism="tlp"),
        row(config="tlp", repetition=1, is_tlp=False, t_total_s=9.0, mechanism="rto"),
        row(config="tlp", repetition=2, is_tlp=None, t_total_s=3.0, mechanism="tlp"),
        row(config="er", cell=1, is_tlp=False, t_total_s=2.0),
    ]
    found = block(times(open_run(write_run(rows))))
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
    cells = block(times(open_run(write_run(rows, scenario=scenario)))).cells
    assert cells["tlp"].left_out == {}
    assert cells["probing"].left_out == {Reason.NOT_PROBED: 1}


def test_on_a_lossy_line_a_tlp_transfer_without_a_probe_counts(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config="tlp", line_loss=0.01, is_tlp=True, t_total_s=3.0),
        row(config="tlp", line_loss=0.01, is_tlp=False, t_total_s=1.0) | {"repetition": 1},
    ]
    cell = block(times(open_run(write_run(rows)))).cells["tlp"]
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
    cell = block(times(run)).cells["er"]
    assert cell.left_out == {Reason.INCOMPLETE: 1, Reason.STALLED: 1, Reason.INEXACT: 1}
    assert cell.t_total.mean_s == 1.0
    kept = block(times(run, keep_inexact=True)).cells["er"]
    assert kept.left_out == {Reason.INCOMPLETE: 1, Reason.STALLED: 1}
    assert kept.t_total.mean_s == 4.0


def test_a_cell_without_a_transfer_is_empty_not_missing(row: Rows, write_run: Rows) -> None:
    rows = [row(config="er"), row(config="tlp", cell=1, lost_segments=4)]
    found = block(times(open_run(write_run(rows)), 5))
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
    table = times(open_run(write_run(rows)))
    assert [(b.group.words, b.t_total[0].spread.mean_s) for b in table.blocks] == [
        ("default receive window, cubic", 0.0),
        ("receive window 64 KiB, cubic", 1.0),
        ("default receive window, bbr", 2.0),
        ("receive window 64 KiB, bbr", 3.0),
    ]


def test_what_departs_from_a_base_is_named_alone(row: Rows, write_run: Rows) -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"page_segments": 10},
        {"page_segments": None, "transfer_size_bytes": 2_000_001},
        {"line_loss": 0.001},
        {"congestion_control": "bbr"},
    ]
    rows = [row(cell=i, **change) for i, change in enumerate(changes)]
    found = [b.group for b in times(open_run(write_run(rows))).blocks]
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
    found = [b.group for b in times(open_run(write_run(rows))).blocks]
    assert not any(g.is_base for g in found)
    assert [g.words for g in found] == [f"page of {n} segments, {cc}" for n, cc in pairs]
    assert len({g.slug for g in found}) == len(pairs)


def test_sizes_in_bytes_are_an_axis(row: Rows, write_run: Rows) -> None:
    rows = [
        row(cell=i, page_segments=None, transfer_size_bytes=size)
        for i, size in enumerate((10_000, 20_000))
    ]
    words = [b.group.words for b in times(open_run(write_run(rows))).blocks]
    assert words == ["page of 10 kB", "page of 20 kB"]


def test_what_comes_with_the_network_is_no_axis(row: Rows, write_run: Rows) -> None:
    rows = [row(), row(network="lossy", cell=1, line_loss=0.01)]
    assert [b.group.words for b in times(open_run(write_run(rows))).blocks] == ["", ""]


def test_cells_that_no_column_tells_apart_stay_apart(row: Rows, write_run: Rows) -> None:
    rows = [row(cell=i, t_total_s=float(i)) for i in range(2)]
    table = times(open_run(write_run(rows)))
    assert [(b.group.words, b.t_total[0].spread.mean_s) for b in table.blocks] == [
        ("variant 1", 0.0),
        ("variant 2", 1.0),
    ]


def test_spurious_retransmissions_are_added_up_where_known(row: Rows, write_run: Rows) -> None:
    rows = [
        row(repetition=0, spurious_retransmissions=2),
        row(repetition=1, spurious_retransmissions=None),
        row(repetition=2, spurious_retransmissions=1),
        row(config="tlp", cell=1, is_tlp=True, spurious_retransmissions=None),
    ]
    cells = block(times(open_run(write_run(rows)))).cells
    assert cells["er"].spurious_retransmissions == 3
    assert cells["tlp"].spurious_retransmissions is None


def test_each_number_of_losses_has_a_block(row: Rows, write_run: Rows) -> None:
    run = open_run(write_run([row(cell=n, lost_segments=n, t_total_s=float(n)) for n in range(7)]))
    every = times(run)
    assert every.lost_segments == every.losses_in_run == tuple(range(7))
    assert [(b.lost_segments, b.t_total[0].spread.mean_s) for b in every.blocks] == [
        (n, float(n)) for n in range(7)
    ]
    assert [b.lost_segments for b in times(run, 6).blocks] == [6]
    with pytest.raises(UserError) as caught:
        times(run, 7)
    assert caught.value.hint == "it has 0..6; choose with `losses` N"


def test_where_other_settings_vary_the_largest_number_is_taken(row: Rows, write_run: Rows) -> None:
    rows = [
        row(cell=2 * n + i, lost_segments=n, congestion_control=cc)
        for n in (1, 4)
        for i, cc in enumerate(("cubic", "bbr"))
    ]
    table = times(open_run(write_run(rows)))
    assert (table.lost_segments, table.losses_in_run) == ((4,), (1, 4))
    assert [(b.group.words, b.lost_segments) for b in table.blocks] == [("cubic", 4), ("bbr", 4)]


def test_what_the_network_is_besides(row: Rows, write_run: Rows) -> None:
    link = {"rate": "100Mbit", "delay": "2.5ms"}
    for more, told in (
        ({"jitter": "0s", "loss": "0%", "queue": 1000, "at": "wire"}, ""),
        ({"loss": "2%", "at": "host"}, ", line loss 2%, links acting at the host"),
        ({"jitter": "1ms", "queue": 10}, ", jitter 1ms, queue 10"),
        ({"loss": ["0%", "1%"]}, ""),
        ({"links": [{"loss": "1%"}, {"rate": "1Gbit"}]}, ", line loss 1% and 0%"),
        ({"links": [{"reorder": "2%"}, {}]}, ", reorder 2%"),
        ({"outages": ["1s..2s", "3s..4s"], "up": {}}, ", outages 1s..2s and 3s..4s"),
        ({"up": {"rate": "1Mbit", "queue": 9}}, ", queue 9 on the way up, 1Mbit on the way up"),
        (
            {"links": [{"policer": {"rate": "1Mbit", "burst": "9kB"}}, {"up": {"loss": "1%"}}]},
            ", line loss 0% and 1% on the way up, policer rate 1Mbit burst 9kB",
        ),
    ):
        run = open_run(write_run([row()], scenario={"networks": {"high-speed": {**link, **more}}}))
        assert block(times(run)).setting.title == f"100 Mbit/s, 10 ms RTT{told}"
    slow = {**link, "up": {"delay": "10ms"}}
    run = open_run(write_run([row()], scenario={"networks": {"high-speed": slow}}))
    assert block(times(run)).setting.title == "100 Mbit/s, 25 ms RTT"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.588, "+0.6%"),
        (-0.04, "0.0%"),
        (9.94, "+9.9%"),
        (9.96, "+10%"),
        (-9.96, "-10%"),
        (-38.05, "-38%"),
        (250.4, "+250%"),
        (None, ""),
    ],
)
def test_signs_and_digits(value: float | None, text: str) -> None:
    assert signed_percent(value) == text


def test_no_percentage_of_nothing() -> None:
    assert percent(1.0, None) is None
    assert percent(None, 1.0) is None
    assert percent(1.0, 0.0) is None


@pytest.mark.parametrize(
    ("values", "text"), [((3,), "3"), ((1, 2), "1, 2"), ((0, 1, 2), "0..2"), ((0, 1, 3), "0, 1, 3")]
)
def test_numbers(values: tuple[int, ...], text: str) -> None:
    assert numbers(values) == text
