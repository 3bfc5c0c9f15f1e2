//! A token bucket: a policer without a queue (`tcf_police_act`), with one a shaper (`tbf_enqueue`).

use rexmit_time::{Duration, Time};

/// A token bucket and the queue before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Bits of frames a second that it fills with; more than 0.
    pub rate_bps: u64,
    /// What it holds.
    pub burst_bytes: u64,
    /// What may wait for tokens; what is more is dropped.
    pub queue_bytes: u64,
}

impl Bucket {
    /// When a frame of `bytes` passes that comes at `now`, to a bucket that would be full at `full_at`; none if it is dropped.
    pub(super) fn pass(&self, now: Time, bytes: u32, full_at: &mut Time) -> Option<Time> {
        let used_at = now.max(*full_at) + self.length(bytes.into());
        let wait = used_at.since(now) - self.length(self.burst_bytes);
        if wait > self.length(self.queue_bytes) {
            return None;
        }
        *full_at = used_at;
        Some(now + wait.max(Duration::ZERO))
    }

    /// How long it takes to fill with so much.
    fn length(&self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(self.rate_bps.max(1));
        Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }
}
