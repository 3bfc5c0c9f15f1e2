"""Table 4 against frames small enough to work out by hand."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from rexmit.analysis.times import Block, Times
from rexmit.errors import UserError
from rexmit.present.show import show
from rexmit.result.blocks import Room
from rexmit.store.open_run import open_run
from rexmit_papers.ryll_2013.show_table4 import table4_blocks
from rexmit_papers.ryll_2013.table4 import Entry, entries, table4

Rows = Callable[..., Any]


def block(table: Times, network: str = "high-speed") -> Block:
    """The one block of a network."""
    (found,) = [b for b in table.blocks if b.network == network]
    return found


def total(table: Times, config: str) -> Entry:
    return entries(block(table), "t_total")[config]


def test_times_to_the_letter_stand_beside_ours_where_they_are_others(
    row: Rows, write_run: Rows
) -> None:
    probe = {"t_total_printed_s": 0.25, "t_recover_printed_s": None}
    run = open_run(write_run([row(t_total_s=0.3, t_recover_s=0.2) | probe]))
    found = block(table4(run))
    assert entries(found, "t_total")["er"].to_the_letter.mean_s == 0.25
    assert entries(found, "t_recover")["er"].to_the_letter.mean_s is None
    text = io.StringIO()
    show(table4_blocks(table4(run), Room(100)), Console(file=text, width=100))
    lines = [" ".join(line.split()) for line in text.getvalue().splitlines()]
    assert lines.count("to the letter 0.2500") == 1
    assert any(line.startswith("to the letter: t_total until the FIN") for line in lines)


def test_percent_is_against_er(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config=c, cell=i, t_total_s=t, is_tlp=c == "tlp") for i, (c, t) in enumerate(_THREE)
    ]
    table = table4(open_run(write_run(rows)))
    totals = entries(block(table), "t_total")
    assert table.baseline == "er"
    assert totals["plain"].percent == pytest.approx(20)
    assert totals["er"].percent is None
    assert totals["tlp"].percent == pytest.approx(-50)


_THREE = (("plain", 1.2), ("er", 1.0), ("tlp", 0.5))


def test_the_papers_figure_stands_beside(row: Rows, write_run: Rows) -> None:
    rows = [row(config="er", t_total_s=0.3), row(config="tlp", cell=1, t_total_s=0.2, is_tlp=True)]
    found = total(table4(open_run(write_run(rows))), "tlp")
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
    assert isinstance(found, Entry)
    assert found.spread.n == 1
    assert found.paper is None


def test_no_paper_beside_a_network_set_otherwise(row: Rows, write_run: Rows) -> None:
    networks = {"high-speed": {"rate": "100Mbit", "delay": "5ms"}}
    found = block(table4(open_run(write_run([row()], scenario={"networks": networks}))))
    assert found.setting.title == "100 Mbit/s, 20 ms RTT"
    assert entries(found, "t_total")["er"].paper is None


def test_links_of_their_own_make_the_network(row: Rows, write_run: Rows) -> None:
    links = [{"rate": "1Gbit", "delay": "4ms"}, {"delay": "1ms"}]
    networks = {"high-speed": {"rate": "100Mbit", "links": links}}
    found = block(table4(open_run(write_run([row()], scenario={"networks": networks}))))
    assert found.setting.title == "100 Mbit/s, 10 ms RTT"
    assert entries(found, "t_total")["er"].paper is not None


def test_a_network_with_jitter_is_not_the_papers(row: Rows, write_run: Rows) -> None:
    link = {"rate": "100Mbit", "delay": "2.5ms"}
    for more, compared in (
        ({"jitter": "0s", "loss": "0%", "queue": 1000, "at": "wire"}, True),
        ({"loss": "2%", "at": "host"}, True),
        ({"jitter": "1ms", "queue": 10}, False),
    ):
        run = open_run(write_run([row()], scenario={"networks": {"high-speed": {**link, **more}}}))
        assert (total(table4(run), "er").paper is not None) is compared


def test_another_number_of_losses(row: Rows, write_run: Rows) -> None:
    run = open_run(write_run([row(cell=n, lost_segments=n, t_total_s=float(n)) for n in range(7)]))
    assert table4(run).lost_segments == (5,)
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
    assert table4(run).lost_segments == (max(losses),)


def test_only_the_papers_setting_is_compared(row: Rows, write_run: Rows) -> None:
    rows = [
        row(cell=i, congestion_control=cc, receive_window_bytes=window)
        for i, (cc, window) in enumerate([("cubic", None), ("cubic", 65536), ("bbr", None)])
    ]
    blocks = table4(open_run(write_run(rows))).blocks
    compared = [entries(one, "t_total")["er"].paper is not None for one in blocks]
    assert compared == [True, False, False]
