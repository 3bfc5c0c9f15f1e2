//! Round-trip times as the sender saw them.

use rexmit_time::Duration;

use crate::measures::percentiles::Percentiles;

/// Samples of one sender, from what was sent once (Karn's rule, RFC 6298 §3).
#[derive(Clone, Debug, Default)]
pub(super) struct Rtts {
    least: Option<Duration>,
    most: Duration,
    sum: i128,
    count: u32,
    moving: Option<Duration>,
    percentiles: Percentiles,
}

impl Rtts {
    /// A sample.
    pub(super) fn sample(&mut self, rtt: Duration) {
        if rtt.is_negative() {
            return;
        }
        self.least = Some(self.least.map_or(rtt, |l| l.min(rtt)));
        self.most = self.most.max(rtt);
        self.sum += i128::from(rtt.as_nanos());
        self.count = self.count.saturating_add(1);
        self.percentiles.add(rtt);
        self.moving = Some(self.moving.map_or(rtt, |m| m + (rtt - m) / 4));
    }

    /// The moving average, weight 1/4 for the new sample (UNC 2007, section IV).
    pub(super) const fn moving(&self) -> Option<Duration> {
        self.moving
    }

    /// The largest.
    pub(super) const fn most(&self) -> Duration {
        self.most
    }

    /// The smallest.
    pub(super) const fn least(&self) -> Option<Duration> {
        self.least
    }

    /// Median and 95th percentile.
    pub(super) fn percentiles(&self) -> Option<[Duration; 2]> {
        self.percentiles.summary(self.least?, self.most)
    }

    /// Smallest, average, largest and their number.
    pub(super) fn summary(&self) -> Option<(Duration, Duration, Duration, u32)> {
        let least = self.least?;
        let average = self.sum / i128::from(self.count.max(1));
        let average = Duration::from_nanos(i64::try_from(average).unwrap_or(i64::MAX));
        Some((least, average, self.most, self.count))
    }
}
