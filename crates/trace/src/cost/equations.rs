//! Equations (1) to (3) of UNC 2007, as printed: `x` is half the flight in segments, results are round-trip times.
//!
//! The logarithm is base 2: it counts the round trips of slow start, and only so is RF(2) = 0.

/// Half of a flight of `segments`.
#[must_use]
pub fn half_flight(segments: u32) -> f64 {
    f64::from(segments) / 2.0
}

/// F(x), equation (1): what a connection saves that does not make a spurious fast retransmit.
#[must_use]
pub fn fast_retransmit_avoided(x: f64) -> f64 {
    x + 1.0 - (3.0 * x * x - x) / (5.0 * x + 1.0)
}

/// R(x), equation (2): what a connection saves that does not make a spurious timeout. 0 for x < 1, where the equation
/// has a pole and wrong signs.
#[must_use]
pub fn timeout_avoided(x: f64) -> f64 {
    if x < 1.0 {
        return 0.0;
    }
    x + x.log2() - 1.0 - (3.0 * x * x + x - 4.0) / (5.0 * x + x.log2() - 1.0)
}

/// RF(x), equation (3): what a connection saves after the repair of a loss that fast retransmit finds and not a timeout.
/// 0 for x < 2, where the equation has a pole and wrong signs.
#[must_use]
pub fn fast_retransmit_for_timeout(x: f64) -> f64 {
    if x < 2.0 {
        return 0.0;
    }
    x.log2() - 1.0 - (2.0 * x - 4.0) / (2.0 * x + x.log2() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-12,
            "{value} is not {expected}"
        );
    }

    #[test]
    fn the_equations_by_hand() {
        // 1 + 1 - (3 - 1) / 6
        near(fast_retransmit_avoided(1.0), 5.0 / 3.0);
        // 4 + 1 - (48 - 4) / 21
        near(fast_retransmit_avoided(4.0), 61.0 / 21.0);
        // 1 + 0 - 1 - 0 / 4
        near(timeout_avoided(1.0), 0.0);
        // 2 + 1 - 1 - (12 + 2 - 4) / (10 + 1 - 1)
        near(timeout_avoided(2.0), 1.0);
        // 4 + 2 - 1 - (48 + 4 - 4) / (20 + 2 - 1)
        near(timeout_avoided(4.0), 57.0 / 21.0);
        // 1 - 1 - 0
        near(fast_retransmit_for_timeout(2.0), 0.0);
        // 2 - 1 - 4 / (8 + 2 - 1)
        near(fast_retransmit_for_timeout(4.0), 5.0 / 9.0);
        // 3 - 1 - 12 / (16 + 3 - 1)
        near(fast_retransmit_for_timeout(8.0), 4.0 / 3.0);
    }

    #[test]
    fn nothing_is_saved_where_the_equations_do_not_hold() {
        near(timeout_avoided(0.5), 0.0);
        near(fast_retransmit_for_timeout(1.5), 0.0);
        near(fast_retransmit_for_timeout(0.0), 0.0);
        near(half_flight(5), 2.5);
    }

    #[test]
    fn larger_flights_lose_more() {
        let flights: Vec<f64> = (2..2_000).map(half_flight).collect();
        for pair in flights.windows(2) {
            assert!(fast_retransmit_avoided(pair[1]) > fast_retransmit_avoided(pair[0]));
            assert!(timeout_avoided(pair[1]) >= timeout_avoided(pair[0]));
            assert!(fast_retransmit_for_timeout(pair[1]) >= fast_retransmit_for_timeout(pair[0]));
        }
    }
}
