//! What must hold between the values of one stack.

use rexmit_time::Duration;

use super::{
    EarlyRetransmit, Estimator, InitialWindow, Recovery, RttSamples, SenderForm, Settings,
    TimeoutMarks, Tlp, WindowShare,
};

/// No time is longer: beyond, sums of times would run out of range.
const DAY: Duration = Duration::from_secs(86_400);

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
                self.max_rto <= DAY && self.fallback_rto <= DAY,
                "max_rto and fallback_rto must be a day at most",
            ),
            (
                self.rto_slop == Duration::ZERO || self.estimator == Estimator::Bsd,
                "rto_slop needs estimator = bsd",
            ),
            (self.rto_slop < self.max_rto, "rto_slop must be less than max_rto"),
            (
                self.srtt_factor <= 1_000.0 && self.rttvar_factor <= 1_000,
                "srtt_factor and rttvar_factor must be at most 1000",
            ),
            (
                (1..=10_000).contains(&self.dupack_threshold),
                "dupack_threshold must be 1 to 10000",
            ),
            (
                !matches!(self.initial_window, InitialWindow::Segments(10_001..)),
                "initial_window must be at most 10000 segments",
            ),
            (
                (1..=65_535).contains(&self.gso_segments),
                "gso_segments must be 1 to 65535",
            ),
            (
                self.packet_overhead <= 65_536 && self.header_room <= 65_536,
                "packet_overhead and header_room must be at most 65536",
            ),
            (
                self.retries <= 255 && self.syn_retries <= 255 && self.syn_linear_timeouts <= 255,
                "retries, syn_retries and syn_linear_timeouts must be at most 255",
            ),
            (
                !matches!(self.window_share, WindowShare::AdvWinScale(..=-13)),
                "window_share = adv-win-scale must be at least -12, less leaves no window",
            ),
            (
                (1..=10_000).contains(&self.first_window_segments),
                "first_window_segments must be 1 to 10000",
            ),
            (
                (1..=1_048_576).contains(&self.mptcp_burst_bytes),
                "mptcp_burst_bytes must be 1 to 1048576",
            ),
            (
                self.mptcp_stale_after <= 255,
                "mptcp_stale_after must be at most 255",
            ),
            (
                self.delayed_ack_min <= self.delayed_ack_max,
                "delayed_ack_min must not be more than delayed_ack_max",
            ),
            (
                self.delayed_ack_max <= DAY
                    && self.sack_compression_delay <= DAY
                    && self.sack_compression_slack <= DAY,
                "delayed_ack_max, sack_compression_delay and sack_compression_slack must be a day at most",
            ),
        ];
        match rules
            .iter()
            .chain(&self.sender_rules())
            .find(|(holds, _)| !holds)
        {
            Some((_, reason)) => Err((*reason).to_owned()),
            None => Ok(()),
        }
    }

    /// What each of the two senders has no part for.
    fn sender_rules(&self) -> Vec<(bool, &'static str)> {
        match self.sender {
            SenderForm::Linux3 => vec![
                (!self.rack, "rack = true needs sender = linux-6"),
                (
                    self.tlp != Tlp::Rfc8985,
                    "tlp = rfc8985 needs sender = linux-6; with linux-3 there is draft",
                ),
                (
                    self.timeout_marks == TimeoutMarks::All,
                    "timeout_marks = rack needs sender = linux-6",
                ),
                (
                    self.recovery != Recovery::PrrConservative,
                    "recovery = prr-conservative needs sender = linux-6",
                ),
            ],
            SenderForm::Linux6 => vec![
                (!self.fack, "fack = true needs sender = linux-3"),
                (
                    self.early_retransmit == EarlyRetransmit::Off,
                    "early_retransmit needs sender = linux-3",
                ),
                (
                    self.tlp != Tlp::Draft,
                    "tlp = draft needs sender = linux-3; with linux-6 there is rfc8985",
                ),
                (
                    self.tlp == Tlp::Off || self.tlp_probes_bare_fin,
                    "tlp_probes_bare_fin = false needs sender = linux-3",
                ),
                (!self.head_timeout, "head_timeout needs sender = linux-3"),
                (
                    !self.fack_lost_retransmits,
                    "fack_lost_retransmits needs sender = linux-3",
                ),
                (
                    !self.forward_retransmit,
                    "forward_retransmit needs sender = linux-3",
                ),
                (
                    matches!(self.recovery, Recovery::Prr | Recovery::PrrConservative),
                    "recovery must be prr or prr-conservative with sender = linux-6",
                ),
                (
                    self.rtt_samples == RttSamples::EachAck,
                    "rtt_samples = once-per-round-trip needs sender = linux-3",
                ),
            ],
        }
    }
}
