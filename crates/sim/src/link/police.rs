//! A policer: a token bucket that loses what it has no tokens for, as Linux's does (`tcf_police_act`).

use rexmit_plan::Policer;
use rexmit_time::Time;

/// What is gone from a full bucket, in bits times nanoseconds of a second, and since when.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    gone: u128,
    since: Time,
}

impl Bucket {
    /// Whether a frame of `bytes` passes at `now`. One that does not takes nothing.
    pub fn take(&mut self, now: Time, bytes: u32, policer: &Policer) -> bool {
        const SECOND: u128 = 1_000_000_000;
        let passed = now.since(self.since).as_nanos().max(0).unsigned_abs();
        let filled = u128::from(passed) * u128::from(policer.rate_bps);
        self.gone = self.gone.saturating_sub(filled);
        self.since = now;
        let gone = self.gone + u128::from(bytes) * 8 * SECOND;
        let passes = gone <= u128::from(policer.burst_bytes) * 8 * SECOND;
        if passes {
            self.gone = gone;
        }
        passes
    }
}
