//! What must hold between the values of one stack.

use rexmit_time::Duration;

use super::Settings;

impl Settings {
    /// Whether the values together make a stack.
    ///
    /// # Errors
    /// With the first reason why they do not.
    pub fn check(&self) -> Result<(), String> {
        let rules = [
            (
                (1..=1_000_000).contains(&self.hz),
                "hz must be 1 to 1000000",
            ),
            (self.srtt_shift <= 16, "srtt_shift must be at most 16"),
            (self.rttvar_shift <= 16, "rttvar_shift must be at most 16"),
            (
                self.initial_rto > Duration::ZERO && self.fallback_rto > Duration::ZERO,
                "initial_rto and fallback_rto must be more than 0s",
            ),
            (
                self.max_rto >= self.min_rto && self.max_rto >= self.initial_rto,
                "max_rto must not be less than min_rto or initial_rto",
            ),
            (
                self.max_rto <= Duration::from_secs(86_400),
                "max_rto must be a day at most",
            ),
            (
                self.dupack_threshold >= 1,
                "dupack_threshold must be at least 1",
            ),
            (self.gso_segments >= 1, "gso_segments must be at least 1"),
            (
                self.delayed_ack_min <= self.delayed_ack_max,
                "delayed_ack_min must not be more than delayed_ack_max",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, reason)) => Err((*reason).to_owned()),
            None => Ok(()),
        }
    }
}
