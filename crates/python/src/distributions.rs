//! Quantiles of the distributions that intervals are computed from, by the regularised incomplete beta function (Abramowitz
//! and Stegun, Handbook of Mathematical Functions, 26.5 and 26.7).

use std::f64::consts::SQRT_2;

use pyo3::exceptions::PyValueError;
use pyo3::PyResult;
use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};

/// From so many degrees of freedom on Student's t is taken for the normal distribution: to seven digits it is, and the incomplete
/// beta function has no more.
const NORMAL_FROM: f64 = 1e8;

/// From this variance on the binomial distribution is taken for the normal one with its skewness (Cornish and Fisher 1938), which
/// then gives seven digits of a quantile: `beta_reg` ends its continued fraction after 140 terms, which are too few soon after.
const NORMAL_FROM_VARIANCE: f64 = 3e4;

/// How probable `t` or more is, to either side, by Student's t (26.7.1).
pub fn student_tails(t: f64, freedom: f64) -> PyResult<f64> {
    if t.is_nan() || freedom.is_nan() || freedom <= 0.0 {
        return Err(PyValueError::new_err(
            "t is a number, and freedom is positive",
        ));
    }
    Ok(tails(t, freedom))
}

fn tails(t: f64, freedom: f64) -> f64 {
    if freedom >= NORMAL_FROM {
        return erfc(t.abs() / SQRT_2);
    }
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The quantile of Student's t: the value below which a share of it lies.
pub fn student_quantile(share: f64, freedom: f64) -> PyResult<f64> {
    if !(share > 0.0 && share < 1.0 && freedom > 0.0) {
        return Err(PyValueError::new_err(
            "share is between 0 and 1, and freedom is positive",
        ));
    }
    // Both tails of it, which are the more exact the smaller they are.
    let both = 2.0 * share.min(1.0 - share);
    let mut end = 1.0;
    while tails(end, freedom) > both {
        end *= 2.0;
    }
    Ok(root(end, |t| tails(t, freedom) <= both).copysign(share - 0.5))
}

/// The quantile of the number of `n` cases, each of this probability, continued between whole numbers as the incomplete beta
/// function continues the distribution (26.5.24). 0 where no case at all is more probable than `share`.
pub fn binomial_quantile(share: f64, n: f64, probability: f64) -> PyResult<f64> {
    let open = |one: f64| one > 0.0 && one < 1.0;
    if !(open(share) && open(probability) && n > 0.0 && n.is_finite()) {
        return Err(PyValueError::new_err(
            "share and probability are between 0 and 1, and n is positive",
        ));
    }
    let (mean, variance) = (n * probability, n * probability * (1.0 - probability));
    if variance >= NORMAL_FROM_VARIANCE {
        let z = -SQRT_2 * erfc_inv(2.0 * share);
        let skewed = (1.0 - 2.0 * probability) * (z * z - 1.0) / 6.0;
        return Ok((mean + z * variance.sqrt() + skewed - 0.5).clamp(0.0, n));
    }
    Ok(root(n, |k| {
        beta_reg(n - k, k + 1.0, 1.0 - probability) >= share
    }))
}

/// Where, between 0 and `end`, something begins to hold: bisected as far as numbers go.
fn root(end: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut below, mut above) = (0.0, end);
    loop {
        let middle = below + (above - below) / 2.0;
        if middle <= below || middle >= above {
            return above;
        }
        if holds(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
}
