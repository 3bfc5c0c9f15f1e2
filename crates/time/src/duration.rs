//! A signed length of time.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use serde::{Deserialize, Serialize};

/// A signed length of time in nanoseconds (±292 years). Arithmetic saturates and never panics,
/// division by zero included (it gives [`Duration::MAX`], or [`Duration::MIN`] for a negative length).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Duration(i64);

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// The longest length.
    pub const MAX: Duration = Duration(i64::MAX);
    /// The most negative length.
    pub const MIN: Duration = Duration(i64::MIN);

    /// `nanos` nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Duration(nanos)
    }

    /// That of so many nanoseconds, or the longest there is.
    #[must_use]
    pub const fn from_unsigned_nanos(nanos: u64) -> Self {
        Self(if nanos > i64::MAX as u64 {
            i64::MAX
        } else {
            nanos as i64
        })
    }

    /// `micros` microseconds.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Duration(micros.saturating_mul(1_000))
    }

    /// `millis` milliseconds.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Duration(millis.saturating_mul(1_000_000))
    }

    /// `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Duration(secs.saturating_mul(1_000_000_000))
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Seconds, for display and tables.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether this is less than no time.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }
}

impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}

impl Neg for Duration {
    type Output = Duration;
    fn neg(self) -> Duration {
        Duration(self.0.saturating_neg())
    }
}

impl Mul<i64> for Duration {
    type Output = Duration;
    fn mul(self, factor: i64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}

impl Div<i64> for Duration {
    type Output = Duration;
    fn div(self, divisor: i64) -> Duration {
        match (self.0, divisor) {
            (n, 0) if n < 0 => Duration::MIN,
            (_, 0) => Duration::MAX,
            (n, d) => Duration(n.saturating_div(d)),
        }
    }
}

impl From<core::time::Duration> for Duration {
    fn from(std: core::time::Duration) -> Self {
        Duration(i64::try_from(std.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl From<Duration> for core::time::Duration {
    /// A negative length becomes zero.
    fn from(length: Duration) -> Self {
        core::time::Duration::from_nanos(u64::try_from(length.0).unwrap_or(0))
    }
}

impl fmt::Display for Duration {
    /// Seconds with nine decimals, as in `-0.200000000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let n = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:09}", n / 1_000_000_000, n % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_never_panics() {
        assert_eq!(Duration::MAX + Duration::MAX, Duration::MAX);
        assert_eq!(Duration::MIN - Duration::MAX, Duration::MIN);
        assert_eq!(-Duration::MIN, Duration::MAX);
        assert_eq!(Duration::MIN / -1, Duration::MAX);
        assert_eq!(Duration::from_secs(1) / 0, Duration::MAX);
        assert_eq!(Duration::from_secs(-1) / 0, Duration::MIN);
        assert_eq!(Duration::from_secs(i64::MAX), Duration::MAX);
        assert_eq!(Duration::from_millis(3) * 2, Duration::from_micros(6_000));
    }

    #[test]
    fn is_shown_in_seconds() {
        assert_eq!(Duration::from_millis(-200).to_string(), "-0.200000000");
        assert_eq!(Duration::MIN.to_string(), "-9223372036.854775808");
    }

    #[test]
    fn goes_to_and_from_the_standard_library() {
        assert_eq!(
            Duration::from(core::time::Duration::from_millis(3)),
            Duration::from_millis(3)
        );
        assert_eq!(
            core::time::Duration::from(Duration::from_secs(-3)),
            core::time::Duration::ZERO
        );
    }
}
