"""The core's quantiles: against values of mpmath, against scipy, and against what they invert."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtrik, stdtr, stdtrit

from rexmit._core import binomial_quantile, student_quantile, student_tails
from rexmit.statistics.interval import ranks

SHARES = st.floats(1e-4, 1 - 1e-4)


# All reference values are of mpmath 1.4 with 40 digits: `betainc(regularized=True)`, and
# `findroot` over it.
@pytest.mark.parametrize(
    ("share", "freedom", "value"),
    [
        (0.975, 1, 12.706204736174693),
        (0.975, 1.5, 6.0166631044279283),
        (0.8, 2, 1.0606601717798215),
        (0.975, 2, 4.3026527297494618),
        (0.8, 4, 0.94096457723518136),
        (0.975, 9.25, 2.252871560216631),
        (0.995, 30, 2.749995653567225),
        (0.8, 99, 0.84526703195349698),
        (0.975, 1000, 1.9623390808264081),
        (0.8, 10000, 0.84165717914165297),
        (0.975, 10000, 1.9602012398906259),
    ],
)
def test_quantiles_of_student(share: float, freedom: float, value: float) -> None:
    # Digits are lost to the logarithm of the gamma function of many.
    close = 1e-15 * max(1000, freedom)
    assert student_quantile(share, freedom) == pytest.approx(value, rel=close, abs=0)
    assert student_quantile(1 - share, freedom) == pytest.approx(-value, rel=close, abs=0)
    assert float(stdtrit(freedom, share)) == pytest.approx(value, rel=close, abs=0)


@pytest.mark.parametrize(
    ("t", "freedom", "value"),
    [
        (0.1, 1, 0.93654896513889286),
        (1, 2, 0.42264973081037424),
        (2, 3.5, 0.12613852257591353),
        (4, 10, 0.0025183326247366923),
        (1.96, 40, 0.05698822403200635),
        (3.5, 1000, 0.00048577434596783224),
        (6, 10000, 2.0416184729226153e-9),
    ],
)
def test_tails_of_student(t: float, freedom: float, value: float) -> None:
    assert student_tails(t, freedom) == pytest.approx(value, rel=1e-14 * max(100, freedom))
    assert student_tails(-t, freedom) == student_tails(t, freedom)


@pytest.mark.parametrize(
    ("share", "n", "probability", "value"),
    [
        (0.975, 2, 0.5, 1.7604388236057433),
        (0.025, 6, 0.5, 0.19412411337895736),
        (0.975, 6, 0.5, 4.8058758866210423),
        (0.025, 12.7, 0.5, 2.4232762998811712),
        (0.975, 12.7, 0.5, 9.2767237001188275),
        (0.025, 100, 0.95, 89.860372070018172),
        (0.975, 100, 0.95, 98.261587290080048),
        (0.025, 333.3, 0.99, 325.51310055947225),
        (0.975, 333.3, 0.99, 332.45646465770999),
        (0.025, 1000, 0.5, 468.51758761422171),
        (0.975, 1000, 0.95, 962.55861107805342),
        (0.025, 10000, 0.5, 4901.5041212937941),
        (0.975, 10000, 0.99, 9918.5207714685579),
    ],
)
def test_quantiles_of_the_binomial(
    share: float, n: float, probability: float, value: float
) -> None:
    assert binomial_quantile(share, n, probability) == pytest.approx(value, rel=2e-12, abs=0)
    # scipy's own search ends where ten digits are right.
    assert float(bdtrik(share, n, probability)) == pytest.approx(value, rel=1e-10)


@given(share=SHARES, freedom=st.floats(1, 1e6))
def test_the_quantile_of_student_inverts_its_tails(share: float, freedom: float) -> None:
    quantile = student_quantile(share, freedom)
    # The gamma function's logarithm has sixteen digits, and grows with the degrees of freedom.
    digits = 1e-9 + 2e-14 * freedom
    assert student_tails(quantile, freedom) == pytest.approx(2 * min(share, 1 - share), rel=digits)
    assert student_tails(quantile, freedom) == pytest.approx(
        2 * float(stdtr(freedom, -abs(quantile))), rel=1e-8 + digits
    )


@given(data=st.data(), n=st.integers(1, 60), probability=st.floats(0.02, 0.98))
def test_the_quantile_of_the_binomial_inverts_its_sum(
    data: st.DataObject, n: int, probability: float
) -> None:
    k = data.draw(st.integers(0, n - 1))
    below, above = (
        math.fsum(
            math.comb(n, i) * probability**i * (1 - probability) ** (n - i) for i in range(end)
        )
        for end in (k + 1, k + 2)
    )
    # Where the sum hardly grows, its digits do not say from where.
    if below > 1e-9 and above - below > 1e-6:
        assert binomial_quantile(below, n, probability) == pytest.approx(k, abs=1e-6)


@given(share=SHARES, n=st.floats(1, 1e5), probability=SHARES)
def test_the_quantile_of_the_binomial_grows_with_the_share(
    share: float, n: float, probability: float
) -> None:
    low, high = (binomial_quantile(one, n, probability) for one in (share / 2, share))
    assert 0 <= low <= high <= n


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    for freedom in (9.9e7, 1e8, 1e300, math.inf):
        assert student_quantile(0.975, freedom) == pytest.approx(1.959963984540054, rel=1e-7)
        assert student_tails(3.0, freedom) == pytest.approx(0.0026997960632601866, rel=1e-6)


@pytest.mark.parametrize("n", [1e5, 1.3e5, 1.9e5, 1e6, 1e8])
@pytest.mark.parametrize("probability", [0.5, 0.95])
def test_many_cases_are_nearly_the_normal_distribution(n: float, probability: float) -> None:
    for share in (0.025, 0.975):
        expected = float(bdtrik(share, n, probability))
        assert binomial_quantile(share, n, probability) == pytest.approx(expected, rel=1e-7)


def test_where_no_case_is_likely_enough_it_is_none() -> None:
    assert binomial_quantile(0.025, 2, 0.5) == pytest.approx(0, abs=1e-300)
    assert ranks(0.5, 2)[0] == -math.inf


def test_nothing_else_has_quantiles() -> None:
    for share in (0.0, 1.0, math.nan, -1.0):
        with pytest.raises(ValueError, match="share"):
            student_quantile(share, 5)
        with pytest.raises(ValueError, match="share"):
            binomial_quantile(share, 5, 0.5)
    for freedom in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="freedom"):
            student_quantile(0.5, freedom)
        with pytest.raises(ValueError, match="freedom"):
            student_tails(1.0, freedom)
    for n in (0.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="n is positive"):
            binomial_quantile(0.5, n, 0.5)
