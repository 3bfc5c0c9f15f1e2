"""Two runs compared cell by cell: which belong together, and what counts as a difference."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.diff.conftest import Row, WriteRuns, cell
from tests.show.conftest import make_row

from rexmit.analysis.axes import with_axes
from rexmit.comparison.compare import CellDiff, Comparison, compare
from rexmit.comparison.gate import Judgement, gate, share
from rexmit.comparison.measures import Side, difference, firsts, same_phases
from rexmit.comparison.pairs import selection
from rexmit.comparison.show_diff import comparison_blocks, summary
from rexmit.errors import UserError
from rexmit.store.open_run import open_run

NONE = selection((), ())
BASE = [0.200, 0.204, 0.196, 0.200]


def compared(paths: tuple[Path, Path], only: tuple[str, ...] = (), *maps: str) -> Comparison:
    return compare(open_run(paths[0]), open_run(paths[1]), selection(only, maps))


def only(comparison: Comparison) -> CellDiff:
    (found,) = comparison.cells
    return found


def test_the_same_run_twice_is_alike(write_runs: WriteRuns) -> None:
    rows = cell(0, BASE) + cell(1, [None] * 4, lost_segments=0, mechanism=None)
    found = compared(write_runs(rows, rows))
    assert len(found.cells) == 2
    assert not found.differing
    assert all(c.paired for c in found.cells)
    assert summary(found) == "2 cells in both: 2 alike"


def test_pairs_take_the_phases_spread_out(write_runs: WriteRuns) -> None:
    wide = [0.1, 0.2, 0.3, 0.4]
    later = [time + 0.005 for time in wide]
    here = only(compared(write_runs(cell(0, wide), cell(0, later)))).difference("t_recover")
    assert here.pairs == 4
    assert here.difference == pytest.approx(0.005)
    assert here.percent == pytest.approx(2.0)
    # Every pair says the same: what is left is the timers' tick.
    assert here.limit == 0.004
    assert here.beyond
    other_phases = cell(0, later, phase_s=0.0005)
    there = only(compared(write_runs(cell(0, wide), other_phases))).difference("t_recover")
    assert there.pairs is None
    sd = math.sqrt(sum((time - 0.25) ** 2 for time in wide) / 3)
    # Student's t of six degrees of freedom.
    assert there.limit == pytest.approx(2.44691 * math.sqrt(2 * sd**2 / 4), rel=1e-5)
    assert there.smallest is not None
    assert there.smallest > there.limit
    assert not there.beyond


def test_less_than_a_tick_is_no_difference_in_time(write_runs: WriteRuns) -> None:
    later = [time + 0.0039 for time in BASE]
    runs = write_runs(cell(0, BASE), cell(0, later))
    assert not only(compared(runs)).difference("t_recover").beyond
    # At 1000 Hz on both sides the tick is shorter; the slower one counts.
    fast = {"version": "6.12.117", "hz": 1000, "patches": [], "hash": "0"}
    slower = compared(write_runs(cell(0, BASE), cell(0, later), {"kernel": fast}))
    assert slower.tick_s == 0.004


def test_what_is_below_a_tick_is_said(write_runs: WriteRuns) -> None:
    later = [time + 0.0015 for time in BASE]
    found = compared(write_runs(cell(0, BASE), cell(0, later)))
    one = only(found).difference("t_recover")
    assert one.below_tick
    assert not one.beyond
    text = "\n".join(map(str, comparison_blocks(found, every_cell=False)))
    assert "2 differences by less than a tick" in text
    assert "the largest 0.0015 s" in text
    alike = compared(write_runs(cell(0, BASE), cell(0, BASE)))
    assert not only(alike).difference("t_recover").below_tick


def test_median_and_95th_percentile_stand_below_a_difference(write_runs: WriteRuns) -> None:
    found = compared(write_runs(cell(0, [0.1, 0.2, 0.3]), cell(0, [0.2, 0.3, 0.8])))
    text = "\n".join(map(str, comparison_blocks(found, every_cell=True)))
    assert "('  median', '0.2000', '', '0.3000', '', '+0.1000')" in text
    assert "('  95th percentile', '0.2900', '', '0.7500', '', '+0.4600')" in text


def test_counts_and_estimates_have_no_tick(write_runs: WriteRuns) -> None:
    rows = cell(0, BASE, timeouts=1), cell(0, BASE, timeouts=0, probes=1, srtt_s=0.011)
    a, b = write_runs(*rows)
    srtt = compare(open_run(a), open_run(b), NONE, ["srtt"])
    assert only(srtt).difference("srtt").difference == pytest.approx(0.001)
    assert only(srtt).difference("srtt").beyond
    here = only(compared((a, b)))
    assert here.difference("timeouts").difference == -1
    assert here.difference("timeouts").beyond
    assert here.difference("probes").beyond
    assert not here.difference("retransmissions").beyond
    assert not here.difference("t_total").beyond
    assert here.differs


def test_a_quantity_that_only_one_has(write_runs: WriteRuns) -> None:
    here = only(compared(write_runs(cell(0, BASE), cell(0, [None] * 4, mechanism=None))))
    found = here.difference("t_recover")
    assert found.one_sided
    assert found.beyond
    assert (found.difference, found.percent) == (None, None)
    assert here.firsts.a == {"rto": 4}
    assert here.firsts.b == {None: 4}
    assert here.firsts.differing == 4
    assert here.firsts.beyond


def test_what_says_nothing_of_the_stack_is_left_out(write_runs: WriteRuns) -> None:
    odd = cell(0, [*BASE, 9.0])
    odd[-1]["exact"] = False
    runs = write_runs(cell(0, [*BASE, 0.2]), odd)
    here = only(compared(runs))
    assert here.left_out == (0, 1)
    assert here.transfers == (5, 5)
    assert here.difference("t_recover").pairs == 4
    assert not here.differs
    kept = compare(open_run(runs[0]), open_run(runs[1]), NONE, keep_inexact=True)
    assert only(kept).left_out == (0, 0)


def test_a_probe_that_was_not_chosen_stays_in(write_runs: WriteRuns) -> None:
    rows = [
        cell(0, BASE, config="tlp", is_tlp=probe, mechanism=first)
        for probe, first in ((True, "tlp"), (False, "rto"))
    ]
    here = only(compared(write_runs(*rows)))
    assert here.left_out == (0, 0)
    assert here.firsts.beyond


def test_cells_belong_together_by_their_values(write_runs: WriteRuns) -> None:
    def grid(numbers: list[int], networks: list[str], windows: list[int | None]) -> list[Row]:
        keys = [(n, w) for n in networks for w in windows]
        return [
            row
            for number, (network, window) in zip(numbers, keys, strict=True)
            for row in cell(number, BASE, network=network, receive_window_bytes=window)
        ]

    a = grid([0, 1, 2, 3], ["mobile", "high-speed"], [None, 64_000])
    b = grid([7, 8, 9], ["satellite", "mobile", "high-speed"], [64_000])
    found = compared(write_runs(a, b))
    assert [c.label for c in found.cells] == [
        "mobile, er, receive window 64 kB, 5 lost",
        "high-speed, er, receive window 64 kB, 5 lost",
    ]
    assert [(c.pair.a.number, c.pair.b.number) for c in found.cells] == [(1, 8), (3, 9)]
    assert found.only_a == (
        "mobile, er, default receive window, 5 lost",
        "high-speed, er, default receive window, 5 lost",
    )
    assert found.only_b == ("satellite, er, receive window 64 kB, 5 lost",)


def test_cells_are_chosen_by_axis(write_runs: WriteRuns) -> None:
    rows = [
        row
        for number, (network, lost) in enumerate((n, k) for n in ("mobile", "far") for k in (1, 5))
        for row in cell(number, BASE, network=network, lost_segments=lost)
    ]
    runs = write_runs(rows, rows)
    found = compared(runs, ("network=mobile", "lost=2..9"))
    assert [c.label for c in found.cells] == ["mobile, er, 5 lost"]
    assert found.only_a == ()


def test_values_of_other_names_are_compared_by_a_map(write_runs: WriteRuns) -> None:
    rows = cell(0, BASE, config="er") + cell(1, [t / 4 for t in BASE], config="tlp")
    runs = write_runs(rows, rows)
    found = compared(runs, (), "config:er=tlp")
    assert [c.label for c in found.cells] == ["high-speed, er : tlp, 5 lost"]
    assert only(found).difference("t_recover").percent == pytest.approx(-75)
    assert (found.only_a, found.only_b) == ((), ())
    both = compared(runs, ("config=tlp",), "config:er=tlp", "config:tlp=er")
    assert [c.label for c in both.cells] == ["high-speed, tlp : er, 5 lost"]


def test_nothing_in_common_is_wrong_usage(write_runs: WriteRuns) -> None:
    runs = write_runs(cell(0, BASE, config="er"), cell(0, BASE, config="tlp"))
    with pytest.raises(UserError, match="no cell in common") as error:
        compared(runs)
    assert error.value.usage
    assert "maps" in str(error.value.hint)
    with pytest.raises(UserError, match="no cell in common") as error:
        compared(runs, ("network=nowhere",))
    assert "no cell is chosen" in str(error.value.hint)


@pytest.mark.parametrize(
    ("chosen", "maps", "what"),
    [
        (("network",), (), "`cells` network: this is no AXIS=VALUE"),
        (("netwrok=x",), (), "`cells` netwrok=x: there is no axis netwrok"),
        (("lost=x",), (), "`cells` lost=x: 'x' is no number"),
        (("lost=5..",), (), "`cells` lost=5..: '5..' is no number"),
        ((), ("config=er",), "`maps` config=er: this is no AXIS:A=B"),
        ((), ("config:er",), "`maps` config:er: this is no AXIS:A=B"),
        ((), ("confug:a=b",), "`maps` confug:a=b: there is no axis confug"),
    ],
)
def test_wrong_choices_are_refused(
    chosen: tuple[str, ...], maps: tuple[str, ...], what: str
) -> None:
    with pytest.raises(UserError) as error:
        selection(chosen, maps)
    assert error.value.what.startswith(what)
    assert error.value.usage


def test_the_gate_needs_both_the_share_and_the_spread(write_runs: WriteRuns) -> None:
    a = cell(0, BASE) + cell(1, [0.01] * 4, lost_segments=1) + cell(2, BASE, lost_segments=2)
    b = (
        cell(0, [t * 1.04 for t in BASE])  # 4 %, 8 ms
        + cell(1, [0.0108] * 4, lost_segments=1)  # 8 %, less than a tick
        + cell(2, [t * 1.1 for t in BASE], lost_segments=2)
    )
    found = compared(write_runs(a, b))
    over = gate(found, share("5%"))
    assert {(one.label, one.what, one.judgement) for one in over.findings} == {
        ("high-speed, er, 2 lost", "t_total", Judgement.WORSE),
        ("high-speed, er, 2 lost", "t_recover", Judgement.WORSE),
    }
    assert len(gate(found, share("1%")).findings) == 4
    assert gate(found, share("50%")).findings == ()
    with pytest.raises(UserError, match="`worse_than='5'`"):
        share("5")


times = st.lists(st.floats(0.001, 10), min_size=1, max_size=12)


@given(times, times)
def test_turning_runs_round_turns_signs(a: list[float], b: list[float]) -> None:
    import polars as pl

    def frame(values: list[float]) -> pl.DataFrame:
        rows = [make_row(repetition=i, t_total_s=value) for i, value in enumerate(values)]
        return with_axes(pl.DataFrame(rows, infer_schema_length=None))

    one, other = (Side(of, of["repetition"]) for of in (frame(a), frame(b)))
    paired = same_phases(one.rows, other.rows)
    there = difference("t_total", one, other, tick_s=0.004, paired=paired)
    back = difference("t_total", other, one, tick_s=0.004, paired=paired)
    assert there.difference == pytest.approx(-(back.difference or 0.0), abs=1e-12)
    assert there.beyond == back.beyond
    assert firsts(one, other, paired=paired).beyond is False
    same = difference("t_total", one, one, tick_s=0.0, paired=True)
    assert (same.difference, same.beyond) == (0.0, False)
