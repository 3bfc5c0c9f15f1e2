//! What a sender that paces keeps (`tcp_pacing_check`, `tcp_update_skb_after_send`).

use rexmit_time::{Duration, Time};

use super::rate::Rate;

/// Segments that leave before the pace begins, the last of which waits behind it.
const UNPACED: u32 = 10;

/// The pace, and the samples of the rate that it follows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pacing {
    /// What samples are made of.
    pub rate: Rate,
    /// Segments with data that left, until they are enough for the pace to begin (`data_segs_out`).
    sent: u32,
}

impl Pacing {
    /// A packet of so many segments and `len` bytes leaves at `at`, when the one before left or could have at `prior`, at a rate
    /// in bytes a second. When the next may leave (`tcp_update_skb_after_send`).
    pub fn after(&mut self, at: Time, prior: Time, segments: u32, len: u32, rate: u64) -> Time {
        if len > 0 {
            self.sent = self.sent.saturating_add(segments);
        }
        if self.sent < UNPACED || rate == 0 || rate == u64::MAX {
            return at;
        }
        let span = u64::from(len) * 1_000_000_000 / rate;
        // A host that was late makes up for half of it.
        let credit = at.as_nanos().saturating_sub(prior.as_nanos());
        let wait = span - credit.min(span / 2);
        at + Duration::from_nanos(i64::try_from(wait).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenth_segment_and_each_after_it_make_the_next_wait() {
        let mut pacing = Pacing::default();
        let at = Time::from_nanos(1_000_000);
        // 1,000 bytes at 1 MB/s are a millisecond.
        for _ in 0..9 {
            assert_eq!(pacing.after(at, at, 1, 1_000, 1_000_000), at);
        }
        let next = pacing.after(at, at, 1, 1_000, 1_000_000);
        assert_eq!(next, at + Duration::from_millis(1));
        // It left 0.3 ms late: the next waits so much less. After a silence it waits half.
        for (late_us, wait_us) in [(300, 700), (800, 500), (9_000, 500)] {
            let at = next + Duration::from_micros(late_us);
            let after = pacing.after(at, next, 1, 1_000, 1_000_000);
            assert_eq!(after, at + Duration::from_micros(wait_us));
        }
        assert_eq!(pacing.after(at, at, 1, 1_000, u64::MAX), at, "no rate");
    }
}
