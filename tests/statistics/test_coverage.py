"""Intervals held against known truths: how often they have it in them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import NormalDist

import pytest

from rexmit.statistics.estimate import relative
from rexmit.statistics.interval import Interval, of_ratio, of_share
from rexmit.statistics.spread import Spread, spread

Dice = random.Random
Draw = Callable[[Dice], float]

NORMAL: Draw = lambda dice: dice.gauss(1.0, 0.2)  # noqa: E731 - a table of draws
PHASE: Draw = lambda dice: dice.uniform(0.2, 0.204)  # noqa: E731
"""A timer's tick."""
BIMODAL: Draw = lambda dice: 0.4 if dice.random() < 0.3 else 0.2  # noqa: E731
SKEWED: Draw = lambda dice: math.exp(dice.gauss(0.0, 0.5))  # noqa: E731

TRIALS = 2000
"""The share of so many has a standard error of half a percent at 95 %."""


def covered(trial: Callable[[Dice], bool], trials: int = TRIALS) -> float:
    """In how many of the trials the interval has the truth in it."""
    return sum(trial(Dice(number)) for number in range(trials)) / trials


def has(interval: Interval | None, truth: float) -> bool:
    assert interval is not None
    return interval.has(truth)


def sample(dice: Dice, draw: Draw, n: int) -> Spread:
    return spread([draw(dice) for _ in range(n)])


def clustered(dice: Dice, clusters: int, each: int) -> Spread:
    """Values of which those of a cluster share half of their variance."""
    values, units = [], []
    for unit in range(clusters):
        shared = dice.gauss(0, 1)
        values += [shared + dice.gauss(0, 1) for _ in range(each)]
        units += [unit] * each
    return spread(values, units)


@pytest.mark.parametrize(
    ("draw", "truth", "n"),
    [
        (NORMAL, 1.0, 5),
        (NORMAL, 1.0, 20),
        (PHASE, 0.202, 20),
        (BIMODAL, 0.26, 40),
        (SKEWED, math.exp(0.125), 100),
    ],
)
def test_the_mean(draw: Draw, truth: float, n: int) -> None:
    share = covered(lambda dice: has(sample(dice, draw, n).interval, truth))
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("clusters", [6, 20])
def test_the_mean_of_clusters(clusters: int) -> None:
    share = covered(lambda dice: has(clustered(dice, clusters, 10).interval, 0.0))
    assert 0.93 <= share <= 0.97
    # As if every value were one by itself the interval is much too narrow.
    alone = covered(
        lambda dice: has(spread(clustered(dice, clusters, 10).values).interval, 0.0), 500
    )
    assert alone < 0.8


@pytest.mark.parametrize("paired", [True, False])
def test_a_difference_and_a_ratio(paired: bool) -> None:
    """Two configurations whose repetitions share most of what varies, the second 3 % slower."""

    def pair(dice: Dice) -> tuple[Spread, Spread]:
        shared = [dice.gauss(1.0, 0.1) for _ in range(20)]
        again = shared if paired else [dice.gauss(1.0, 0.1) for _ in range(20)]
        a = [one + dice.gauss(0, 0.02) for one in shared]
        b = [1.03 * one + dice.gauss(0, 0.02) for one in again]
        return spread(a, source="a"), spread(b, source="a" if paired else "b")

    def difference(dice: Dice) -> bool:
        a, b = pair(dice)
        assert a.estimate is not None
        assert b.estimate is not None
        return has((b.estimate - a.estimate).interval, 0.03)

    def gain(dice: Dice) -> bool:
        a, b = pair(dice)
        found = relative(b.estimate, a.estimate)
        assert found is not None
        return has(found.interval, 0.03)

    assert 0.93 <= covered(difference) <= 0.97
    assert 0.93 <= covered(gain) <= 0.97


@pytest.mark.parametrize(
    ("draw", "quantile", "share", "n"),
    [
        (NORMAL, lambda p: NormalDist(1.0, 0.2).inv_cdf(p), 0.5, 15),
        (NORMAL, lambda p: NormalDist(1.0, 0.2).inv_cdf(p), 0.5, 40),
        (SKEWED, lambda p: math.exp(NormalDist(0, 0.5).inv_cdf(p)), 0.95, 100),
        (SKEWED, lambda p: math.exp(NormalDist(0, 0.5).inv_cdf(p)), 0.95, 300),
        (SKEWED, lambda p: math.exp(NormalDist(0, 0.5).inv_cdf(p)), 0.99, 1000),
    ],
)
def test_percentiles(draw: Draw, quantile: Draw, share: float, n: int) -> None:
    truth = quantile(share)  # type: ignore[arg-type]
    found = covered(lambda dice: has(sample(dice, draw, n).percentile_interval(share), truth))
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_percentiles_of_clusters(share: float) -> None:
    truth = NormalDist(0, math.sqrt(2)).inv_cdf(share)
    found = covered(lambda dice: has(clustered(dice, 30, 10).percentile_interval(share), truth))
    assert 0.93 <= found <= 0.97


@pytest.mark.parametrize(
    ("least", "most", "n"), [(0.03, 0.08, 200), (0.3, 0.6, 20), (0.8, 0.95, 100)]
)
def test_shares(least: float, most: float, n: int) -> None:
    """Of any one share the coverage jumps with what whole numbers there are."""

    def trial(dice: Dice) -> bool:
        truth = dice.uniform(least, most)
        return of_share(sum(dice.random() < truth for _ in range(n)) / n, n).has(truth)

    assert 0.93 <= covered(trial) <= 0.97


def test_the_ratio_of_medians() -> None:
    truth = 3.0

    def trial(dice: Dice) -> bool:
        one = spread([3 * math.exp(dice.gauss(0, 0.5)) for _ in range(60)])
        other = spread([math.exp(dice.gauss(0, 0.5)) for _ in range(60)])
        mine, theirs = one.percentile_interval(0.5), other.percentile_interval(0.5)
        assert mine is not None
        assert theirs is not None
        values = [each.percentile(0.5) or 0.0 for each in (one, other)]
        return of_ratio(values[0], mine, values[1], theirs).has(truth)

    assert 0.93 <= covered(trial) <= 0.97


def test_the_smallest_difference_is_told_four_times_in_five() -> None:
    n, sd = 20, 0.1

    def told(dice: Dice, truth: float) -> bool:
        found = spread([dice.gauss(truth, sd) for _ in range(n)]).estimate
        assert found is not None
        return bool(found.decided)

    sizes = []
    for number in range(200):
        dice = Dice(number)
        found = spread([dice.gauss(0, sd) for _ in range(n)]).estimate
        assert found is not None
        assert found.smallest is not None
        sizes.append(found.smallest)
    smallest = sum(sizes) / len(sizes)
    assert 0.77 <= covered(lambda dice: told(dice, smallest), 1000) <= 0.84
