//! Percentiles of durations, from a histogram whose buckets grow with what they hold.

use rexmit_time::Duration;

/// Buckets from one power of two to the next, as a power of two: a bucket's middle is 1.6 % off at most.
const BITS: u32 = 5;

/// Durations counted in buckets of equal relative width. It takes up room only for the buckets in use: a few dozen for the
/// round trips of a path, 2,000 for whatever comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Percentiles {
    /// Buckets in their order, each with how many durations fell into it.
    buckets: Vec<(u16, u32)>,
    count: u64,
}

impl Percentiles {
    /// Takes in a duration; a negative one counts as 0.
    pub fn add(&mut self, duration: Duration) {
        let bucket = bucket(u64::try_from(duration.as_nanos()).unwrap_or(0));
        self.count += 1;
        match self.buckets.binary_search_by_key(&bucket, |&(b, _)| b) {
            Ok(i) => self.buckets[i].1 = self.buckets[i].1.saturating_add(1),
            Err(i) => self.buckets.insert(i, (bucket, 1)),
        }
    }

    /// Whether there is one duration and no other.
    pub const fn is_one(&self) -> bool {
        self.count == 1
    }

    /// The smallest duration that so many of a hundred do not exceed; none without any.
    pub fn at(&self, percent: u32) -> Option<Duration> {
        let rank = (self.count * u64::from(percent)).div_ceil(100).max(1);
        let mut below = 0;
        for &(bucket, count) in &self.buckets {
            below += u64::from(count);
            if below >= rank {
                return Some(middle(bucket));
            }
        }
        None
    }

    /// Median and 95th percentile, between the smallest and the largest duration, which the caller knows.
    pub fn summary(&self, least: Duration, most: Duration) -> Option<[Duration; 2]> {
        let within = |duration: Duration| duration.max(least).min(most);
        Some([within(self.at(50)?), within(self.at(95)?)])
    }

    /// Forgets all durations and keeps the room.
    pub fn clear(&mut self) {
        self.buckets.clear();
        self.count = 0;
    }
}

/// The bucket of so many nanoseconds: itself for the smallest, else its leading bits.
fn bucket(nanos: u64) -> u16 {
    let exponent = nanos.checked_ilog2().unwrap_or(0);
    let Some(shift) = exponent.checked_sub(BITS) else {
        return nanos as u16;
    };
    ((shift << BITS) + (nanos >> shift) as u32) as u16
}

/// The middle of a bucket.
fn middle(bucket: u16) -> Duration {
    let bucket = u64::from(bucket);
    let shift = (bucket >> BITS).saturating_sub(1);
    let leading = bucket - (shift << BITS);
    let nanos = (leading << shift) + (1 << shift) / 2;
    Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        let mut last = 0;
        for nanos in (0..100_000).chain((17..63).map(|bit| (1 << bit) - 1)) {
            let here = bucket(nanos);
            assert!(here >= last, "{nanos}");
            assert!(nanos > 100_000 || here - last <= 1, "{nanos}");
            last = here;
        }
        assert_eq!(bucket(u64::MAX >> 1), 32 * 58 - 1 + 32);
    }

    proptest! {
        #[test]
        fn they_are_those_of_a_sorted_list(
            mut nanos in proptest::collection::vec(prop_oneof![0i64..100, 0i64..10_000_000, 0i64..i64::MAX / 2], 1..300),
            percent in 1u32..=100,
        ) {
            let mut percentiles = Percentiles::default();
            for &one in &nanos {
                percentiles.add(Duration::from_nanos(one));
            }
            nanos.sort_unstable();
            let rank = (nanos.len() * percent as usize).div_ceil(100);
            let exact = nanos[rank - 1];
            let got = percentiles.at(percent).unwrap().as_nanos();
            prop_assert!((got - exact).abs() <= exact / 60 + 1, "{} for {}", got, exact);
        }
    }

    #[test]
    fn one_duration_is_given_back_as_it_was() {
        let mut percentiles = Percentiles::default();
        assert_eq!(percentiles.summary(Duration::ZERO, Duration::ZERO), None);
        let one = Duration::from_nanos(12_345_678);
        percentiles.add(one);
        assert_eq!(percentiles.summary(one, one), Some([one, one]));
    }
}
