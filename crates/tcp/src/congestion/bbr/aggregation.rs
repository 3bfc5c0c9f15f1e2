//! How many segments an acknowledgement brings beyond what the bandwidth would: that many more may be in flight, so that sending
//! goes on while acknowledgements are silent (`bbr_update_ack_aggregation`).

use super::RATE_BITS;

/// Round trips that an excess is remembered at least (`bbr_extra_acked_win_rtts`); two such windows are kept.
const ROUNDS: u32 = 5;
/// More segments begin an epoch anew (`bbr_ack_epoch_acked_reset_thresh`).
const MOST: u32 = 1 << 20;
/// The window grows by no more than what the path delivers in so many microseconds (`bbr_extra_acked_max_us`).
const LONGEST_US: u64 = 100_000;

/// The largest excess of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// When the epoch began, in microseconds, and segments delivered since.
    began: u64,
    acked: u32,
    /// The largest excess in this window of round trips and the one before.
    extra: [u32; 2],
    now: usize,
    rounds: u32,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckedBatch {
    /// The microsecond, and the segments that it delivered.
    pub at: u64,
    pub segments: u32,
    /// A round trip begins with it.
    pub round: bool,
    /// The bandwidth, in segments a microsecond << 24.
    pub bandwidth: u32,
    pub cwnd: u32,
}

impl Aggregation {
    /// An epoch begins.
    pub fn begin(&mut self, at: u64) {
        self.began = at;
        self.acked = 0;
    }

    pub fn take(&mut self, batch: AckedBatch) {
        if batch.round {
            self.rounds = (self.rounds + 1).min(31);
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.now = 1 - self.now;
                self.extra[self.now] = 0;
            }
        }
        let span = batch.at.saturating_sub(self.began);
        let mut expected = ((u64::from(batch.bandwidth) * span) >> RATE_BITS) as u32;
        if self.acked <= expected || self.acked + batch.segments >= MOST {
            self.begin(batch.at);
            expected = 0;
        }
        self.acked = (self.acked + batch.segments).min(MOST - 1);
        let extra = self.acked.saturating_sub(expected).min(batch.cwnd);
        self.extra[self.now] = self.extra[self.now].max(extra & 0xffff);
    }

    /// Segments more that may be in flight (`bbr_ack_aggregation_cwnd`).
    pub fn allowance(&self, bandwidth: u32) -> u32 {
        let most = (u64::from(bandwidth) * LONGEST_US) >> RATE_BITS;
        let extra = self.extra[0].max(self.extra[1]);
        extra.min(u32::try_from(most).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A segment a millisecond.
    const BANDWIDTH: u32 = (1 << RATE_BITS) / 1_000;

    fn batch(at: u64, segments: u32, round: bool) -> AckedBatch {
        AckedBatch {
            at,
            segments,
            round,
            bandwidth: BANDWIDTH,
            cwnd: 100,
        }
    }

    #[test]
    fn what_comes_beyond_the_bandwidth_is_remembered_for_five_to_ten_rounds() {
        let mut one = Aggregation::default();
        one.begin(0);
        one.take(batch(10_000, 8, false));
        assert_eq!(one.allowance(BANDWIDTH), 8, "an epoch begins with it");
        // Eight came; in 5 ms four (the rate rounds down) were to come.
        one.take(batch(15_000, 7, false));
        assert_eq!(one.allowance(BANDWIDTH), 11);
        assert_eq!(one.allowance(BANDWIDTH / 10), 9, "100 ms at most");
        for round in 1..10 {
            one.take(batch(15_000 + round * 100_000, 1, true));
            assert_eq!(one.allowance(BANDWIDTH), 11, "{round}");
        }
        one.take(batch(2_000_000, 1, true));
        assert_eq!(one.allowance(BANDWIDTH), 1);
    }
}
