//! The rate of a policer: where two stretches between losses delivered alike and lost much, that is the bandwidth
//! (`bbr_lt_bw_sampling`).

use super::{rate_bytes, Facts, GAIN_BITS, RATE_BITS};

/// Round trips of a stretch at least (`bbr_lt_intvl_min_rtts`); four times as many are too long.
const ROUNDS: u32 = 4;
/// Segments lost for 256 delivered that mean a policer (`bbr_lt_loss_thresh`).
const LOSSY: u64 = 50;
/// Bytes a second that two rates may differ by: 4 kbit/s (`bbr_lt_bw_diff`); else an eighth (`bbr_lt_bw_ratio`).
const NEAR_BYTES: u64 = 500;
/// Round trips that a policer's rate is kept to (`bbr_lt_bw_max_rtts`).
const LONGEST_USE: u32 = 48;

/// Long-term sampling.
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    sampling: bool,
    /// The rate is the bandwidth.
    pub in_use: bool,
    rounds: u32,
    /// Of the last stretch, in segments a microsecond << 24.
    pub bandwidth: u32,
    /// Where the stretch began: segments delivered and lost, and the millisecond.
    delivered: u32,
    lost: u32,
    began_ms: u64,
}

/// An acknowledgement, or a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossyStretch {
    /// A round trip begins with it.
    pub round: bool,
    /// Losses were found.
    pub losses: bool,
    /// The program bounds the sample.
    pub app_limited: bool,
    /// The gains cycle (`BBR_PROBE_BW`).
    pub cycles: bool,
    /// When something was last delivered, in microseconds.
    pub delivered_at: u64,
}

/// What follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// A policer: its rate is the bandwidth.
    Policed,
    /// Its rate was kept to for long enough: the path is probed anew.
    Over,
}

impl LongTerm {
    /// All is forgotten (`bbr_reset_lt_bw_sampling`). A stretch begins where sampling does.
    pub fn reset(&mut self) {
        *self = LongTerm::default();
    }

    fn begin(&mut self, facts: &Facts, delivered_at: u64) {
        self.began_ms = delivered_at / 1_000;
        self.delivered = facts.delivered;
        self.lost = facts.lost;
        self.rounds = 0;
    }

    pub fn take(&mut self, facts: &Facts, one: LossyStretch) -> Finding {
        if self.in_use {
            if one.cycles && one.round {
                self.rounds += 1;
                if self.rounds >= LONGEST_USE {
                    self.reset();
                    return Finding::Over;
                }
            }
            return Finding::Nothing;
        }
        // What a policer lets through before its tokens are gone tells nothing.
        if !self.sampling {
            if !one.losses {
                return Finding::Nothing;
            }
            self.begin(facts, one.delivered_at);
            self.sampling = true;
        }
        if one.app_limited {
            self.reset();
            return Finding::Nothing;
        }
        self.rounds += u32::from(one.round);
        if self.rounds < ROUNDS {
            return Finding::Nothing;
        }
        if self.rounds > 4 * ROUNDS {
            self.reset();
            return Finding::Nothing;
        }
        if !one.losses {
            return Finding::Nothing;
        }
        let lost = u64::from(facts.lost.wrapping_sub(self.lost));
        let delivered = u64::from(facts.delivered.wrapping_sub(self.delivered));
        if delivered == 0 || lost << GAIN_BITS < LOSSY * delivered {
            return Finding::Nothing;
        }
        let span_ms = (one.delivered_at / 1_000).saturating_sub(self.began_ms);
        if span_ms < 1 {
            return Finding::Nothing;
        }
        if span_ms >= u64::from(u32::MAX) / 1_000 {
            self.reset();
            return Finding::Nothing;
        }
        self.end((delivered << RATE_BITS) / (span_ms * 1_000), facts, one)
    }

    /// A stretch ends with a rate (`bbr_lt_bw_interval_done`).
    fn end(&mut self, bandwidth: u64, facts: &Facts, one: LossyStretch) -> Finding {
        let bandwidth = bandwidth as u32;
        if self.bandwidth > 0 {
            let apart = bandwidth.abs_diff(self.bandwidth);
            let alike =
                u64::from(apart) << GAIN_BITS <= u64::from(self.bandwidth) << (GAIN_BITS - 3);
            if alike || rate_bytes(u64::from(apart), facts.mss, 1 << GAIN_BITS) <= NEAR_BYTES {
                self.bandwidth = ((u64::from(bandwidth) + u64::from(self.bandwidth)) >> 1) as u32;
                self.in_use = true;
                self.rounds = 0;
                return Finding::Policed;
            }
        }
        self.bandwidth = bandwidth;
        self.begin(facts, one.delivered_at);
        Finding::Nothing
    }
}
