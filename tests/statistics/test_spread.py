"""Samples by hand: what has no interval, what is exact, what never ended, what is paired."""

from __future__ import annotations

import math

import pytest

from rexmit.statistics.estimate import average, known, relative
from rexmit.statistics.interval import Interval, of_share, ranks
from rexmit.statistics.spread import NOTHING, spread, spread_data
from rexmit.statistics.verdict import LESS, MORE, Band, Verdict, every
from rexmit.statistics.words import fitting, gain, gained, width


def test_by_hand() -> None:
    found = spread([1.0, 2.0, 4.0])
    assert (found.n, found.percentile(0.5)) == (3, 2.0)
    assert found.mean_s == pytest.approx(7 / 3)
    assert found.interval is not None
    # Student's t of two degrees of freedom is 4.3027; the standard error sqrt(7/3)/sqrt(3).
    half = 4.30265 * math.sqrt(7 / 3) / math.sqrt(3)
    assert found.interval.high - 7 / 3 == pytest.approx(half, rel=1e-5)


def test_of_nothing_and_of_one_there_is_no_interval() -> None:
    assert (NOTHING.mean_s, NOTHING.interval, NOTHING.percentile(0.5)) == (None, None, None)
    one = spread([0.3])
    assert (one.n, one.mean_s, one.sd_s, one.interval) == (1, 0.3, None, None)
    assert one.percentile_interval(0.5) is None
    # A difference from it neither, however many the other has.
    many = spread([0.3, 0.4, 0.5])
    assert one.estimate is not None
    assert many.estimate is not None
    assert (many.estimate - one.estimate).interval is None


def test_a_time_has_no_negative_end() -> None:
    found = spread([0.001, 0.001, 0.2])
    assert found.estimate is not None
    assert found.estimate.interval is not None
    assert found.estimate.interval.low < 0
    assert found.interval == Interval(0.0, found.estimate.interval.high)
    assert spread_data(found)["interval_s"][0] == 0.0
    # What may be negative keeps its end.
    both = spread([-0.1, 0.1, 0.3])
    assert both.estimate is not None
    assert both.interval == both.estimate.interval


def test_what_does_not_vary_is_exact() -> None:
    found = spread([0.1 + 0.2] * 7)
    assert found.interval is not None
    assert found.interval.exact
    assert fitting([0.3]).between(found.interval) == "exact"
    assert width(found.estimate) == "±0"


def test_what_never_ended_is_larger_than_all_others() -> None:
    found = spread([0.1] * 90, endless=10)
    assert found.n == 90
    assert found.mean_s == pytest.approx(0.1)
    assert found.percentile(0.5) == 0.1
    assert found.percentile(0.95) == math.inf
    data = spread_data(found)
    assert (data["never_ended"], data["p95"]["value_s"]) == (10, None)
    assert fitting([0.1]).text(found.percentile(0.95)) == "never"


def test_so_few_do_not_bound_a_percentile_above() -> None:
    interval = spread([float(n) for n in range(20)]).percentile_interval(0.95)
    assert interval is not None
    assert interval.high == math.inf
    assert math.isfinite(interval.low)
    assert spread_data(spread([1.0] * 299))["p99"] is None
    assert spread_data(spread([1.0] * 300))["p99"] is not None


def test_what_two_owe_to_the_same_repetition_cancels() -> None:
    wide = [0.1, 0.2, 0.3, 0.4]
    a = spread(wide, source="run")
    b = spread([one + 0.01 for one in wide], source="run")
    apart = spread([one + 0.01 for one in wide], source="other")
    assert a.estimate is not None
    assert b.estimate is not None
    assert apart.estimate is not None
    paired, unpaired = b.estimate - a.estimate, apart.estimate - a.estimate
    assert paired.interval is not None
    assert paired.interval.exact
    assert paired.decided
    assert unpaired.decided is False
    # Welch's: equal variances of four each have six degrees of freedom.
    assert unpaired.freedom == pytest.approx(6)
    assert unpaired.smallest is not None
    assert unpaired.half is not None
    assert unpaired.smallest > unpaired.half


def test_a_unit_of_several_values_counts_once() -> None:
    found = spread([1.0, 1.0, 2.0, 2.0, 3.0, 3.0], [0, 0, 1, 1, 2, 2])
    alone = spread([1.0, 2.0, 3.0])
    assert found.interval == alone.interval
    assert (found.n, found.drawn) == (6, 3)


def test_against_what_somebody_printed() -> None:
    found = relative(spread([1.0, 1.2, 1.1]).estimate, known(1.0))
    assert found is not None
    assert found.value == pytest.approx(0.1)
    assert found.decided is False
    assert relative(None, known(1.0)) is None
    assert average([]) is None


def test_in_words() -> None:
    near, far = (spread([1.0, 1.1, 0.9, 1.0], source=source) for source in "ab")
    undecided = relative(far.estimate, near.estimate)
    assert gain(undecided) == "0.0%?"
    assert gained(undecided).startswith("undecided ")
    half = spread([0.5, 0.5, 0.5, 0.5], source="b")
    decided = relative(half.estimate, near.estimate)
    assert gain(decided) == "-50%"
    assert gained(decided).startswith("-56% to -4")
    same = spread([1.0, 1.1, 0.9, 1.0], source="a")
    assert gain(relative(same.estimate, near.estimate)) == "0.0%"
    assert gained(relative(same.estimate, near.estimate)) == "exact"
    assert fitting([0.2, 0.0003]).name == "ms"
    assert fitting([0.00005]).name == "ms"
    assert fitting([0.000005]).name == "µs"
    assert fitting([0.2, 0.0, None, 5.0]).name == "s"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (1.0, 2.0, Verdict.HOLDS),
        (1.1, 1.9, Verdict.HOLDS),
        (0.9, 1.5, Verdict.UNDECIDED),
        (1.5, 2.1, Verdict.UNDECIDED),
        (0.0, 3.0, Verdict.UNDECIDED),
        (0.0, 0.9, Verdict.DOES_NOT),
        (2.1, 3.0, Verdict.DOES_NOT),
    ],
)
def test_a_band_and_an_interval(low: float, high: float, verdict: Verdict) -> None:
    assert Band(1.0, 2.0).judge(Interval(low, high)) is verdict


def test_nothing_is_neither_more_nor_less_than_nothing() -> None:
    assert MORE.judge(Interval(0.0, 0.0)) is Verdict.DOES_NOT
    assert LESS.judge(Interval(0.0, 0.0)) is Verdict.DOES_NOT
    assert Band(low=0.0).judge(Interval(0.0, 0.0)) is Verdict.HOLDS
    assert MORE.judge(None) is Verdict.UNDECIDED
    assert every([]) is None
    assert every([Verdict.HOLDS, Verdict.UNDECIDED]) is Verdict.UNDECIDED
    assert every([Verdict.UNDECIDED, Verdict.DOES_NOT]) is Verdict.DOES_NOT


def test_wilsons_interval() -> None:
    """Newcombe 1998, table I."""
    for right, rows, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
    ):
        found = of_share(right / rows, rows)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@pytest.mark.parametrize("n", [3, 4, 5])
def test_few_values_bound_a_median_on_neither_side(n: int) -> None:
    """All of them lie on one side of it more often than in 2.5 of 100 cases."""
    low, high = ranks(0.5, n)
    assert low == -math.inf
    assert high > n


def test_six_values_bound_a_median() -> None:
    low, high = ranks(0.5, 6)
    assert 1 <= low < high <= 6
