//! What must hold between the values of one stack.

use rexmit_time::Duration;

use super::{
    AckOrder, EarlyRetransmit, Estimator, InitialWindow, MptcpOptions, MptcpScheduler, Recovery,
    ReorderingUnit, RttSamples, Settings, TimeoutMarks, Tlp, WindowShare,
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
                self.mptcp_scheduler == MptcpScheduler::None
                    || (self.mptcp_scheduler == MptcpScheduler::LingerTime)
                        == (self.mptcp_options == MptcpOptions::Rfc8684),
                "mptcp_scheduler = lowest-rtt, round-robin, redundant and blest are of multipath-tcp.org's kernels and need mptcp_options = rfc6824, as the stack linux-4.1 has; linger-time is upstream's and needs rfc8684",
            ),
            (
                self.mptcp_options == MptcpOptions::Rfc6824
                    || !(self.mptcp_opportunistic || self.mptcp_penalise),
                "mptcp_opportunistic and mptcp_penalise are of multipath-tcp.org's kernels (stack linux-4.1)",
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
            .chain(&self.order_rules())
            .find(|(holds, _)| !holds)
        {
            Some((_, reason)) => Err((*reason).to_owned()),
            None => Ok(()),
        }
    }

    /// What each order of an acknowledgement has no part for.
    fn order_rules(&self) -> Vec<(bool, &'static str)> {
        match self.ack_order {
            AckOrder::RecoveryFirst => vec![
                (
                    !self.fack || self.reordering_unit == ReorderingUnit::Segments,
                    "fack = true needs reordering_unit = segments",
                ),
                (!self.rack, "rack = true needs ack_order = losses-first"),
                (
                    self.tlp != Tlp::Rfc8985,
                    "tlp = rfc8985 needs ack_order = losses-first; with recovery-first there is draft",
                ),
                (
                    self.timeout_marks == TimeoutMarks::All,
                    "timeout_marks = rack needs ack_order = losses-first",
                ),
                (
                    self.recovery != Recovery::PrrConservative,
                    "recovery = prr-conservative needs ack_order = losses-first",
                ),
            ],
            AckOrder::LossesFirst => vec![
                (!self.fack, "fack = true needs ack_order = recovery-first"),
                (
                    self.early_retransmit == EarlyRetransmit::Off,
                    "early_retransmit needs ack_order = recovery-first",
                ),
                (
                    self.tlp != Tlp::Draft,
                    "tlp = draft needs ack_order = recovery-first; with losses-first there is rfc8985",
                ),
                (
                    self.tlp == Tlp::Off || self.tlp_probes_bare_fin,
                    "tlp_probes_bare_fin = false needs ack_order = recovery-first",
                ),
                (!self.head_timeout, "head_timeout needs ack_order = recovery-first"),
                (
                    !self.fack_lost_retransmits,
                    "fack_lost_retransmits needs ack_order = recovery-first",
                ),
                (
                    !self.forward_retransmit,
                    "forward_retransmit needs ack_order = recovery-first",
                ),
                (
                    matches!(self.recovery, Recovery::Prr | Recovery::PrrConservative),
                    "recovery must be prr or prr-conservative with ack_order = losses-first",
                ),
                (
                    self.rtt_samples == RttSamples::EachAck,
                    "rtt_samples = once-per-round-trip needs ack_order = recovery-first",
                ),
            ],
        }
    }
}
