//! A point in time.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use crate::Duration;

/// A point in time: nanoseconds since the origin of the clock in use (virtual, monotonic or of a
/// capture). Arithmetic saturates at both ends and never panics.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(u64);

impl Time {
    /// The origin of the clock.
    pub const ZERO: Time = Time(0);
    /// The last point that can be written; 584 years after the origin.
    pub const MAX: Time = Time(u64::MAX);

    /// The point `nanos` nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Time(nanos)
    }

    /// Nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The signed time from `earlier` to `self`; negative when `earlier` lies after `self`.
    #[must_use]
    pub const fn since(self, earlier: Time) -> Duration {
        let magnitude = self.0.abs_diff(earlier.0);
        let clipped = if magnitude > i64::MAX as u64 {
            i64::MAX
        } else {
            magnitude as i64
        };
        Duration::from_nanos(if self.0 >= earlier.0 {
            clipped
        } else {
            -clipped
        })
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, by: Duration) -> Time {
        Time(self.0.saturating_add_signed(by.as_nanos()))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, by: Duration) {
        *self = *self + by;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, by: Duration) -> Time {
        self + -by
    }
}

impl Sub for Time {
    type Output = Duration;
    fn sub(self, earlier: Time) -> Duration {
        self.since(earlier)
    }
}

impl fmt::Display for Time {
    /// Seconds with nine decimals, as in `12.000000001`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{:09}",
            self.0 / 1_000_000_000,
            self.0 % 1_000_000_000
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_signed_and_never_panic() {
        let a = Time::from_nanos(5);
        let b = Time::from_nanos(7);
        assert_eq!((b - a).as_nanos(), 2);
        assert_eq!((a - b).as_nanos(), -2);
        assert_eq!((Time::ZERO - Time::MAX).as_nanos(), -i64::MAX);
        assert_eq!((Time::MAX - Time::ZERO).as_nanos(), i64::MAX);
    }

    #[test]
    fn sums_stop_at_both_ends() {
        assert_eq!(Time::ZERO - Duration::from_secs(1), Time::ZERO);
        assert_eq!(Time::MAX + Duration::from_secs(1), Time::MAX);
        assert_eq!(
            Time::from_nanos(10) - Duration::from_nanos(i64::MIN),
            Time::from_nanos(10 + i64::MAX as u64)
        );
    }

    #[test]
    fn is_an_integer_to_serde() {
        let text = serde_json::to_string(&Time::from_nanos(1 << 60)).unwrap();
        assert_eq!(text, "1152921504606846976");
        assert_eq!(
            serde_json::from_str::<Time>(&text).unwrap(),
            Time::from_nanos(1 << 60)
        );
    }

    #[test]
    fn is_shown_in_seconds() {
        assert_eq!(Time::from_nanos(12_000_000_001).to_string(), "12.000000001");
    }
}
