//! What must hold between the values of one stack.

use rexmit_time::Duration;

use super::{
    AckOrder, CongestionControl, EarlyRetransmit, Recovery, ReorderingUnit, RttSamples, Settings,
    TimeoutMarks, Tlp,
};

/// Whether something holds, and what to say where it does not.
pub(super) type Rule = (bool, &'static str);

/// No time is longer: beyond, sums of times would run out of range.
pub(super) const DAY: Duration = Duration::from_secs(86_400);

impl Settings {
    /// Whether the values together make a stack.
    ///
    /// # Errors
    /// With the first reason why they do not.
    pub fn check(&self) -> Result<(), String> {
        let groups = self.groups();
        let own = groups.iter().flat_map(|group| group.rules());
        match own.chain(self.order_rules()).find(|(holds, _)| !holds) {
            Some((_, reason)) => Err(reason.to_owned()),
            None => Ok(()),
        }
    }

    /// What each order of an acknowledgement has no part for.
    fn order_rules(&self) -> Vec<Rule> {
        match self.loss.ack_order {
            AckOrder::RecoveryFirst => vec![
                (
                    !self.loss.fack || self.loss.reordering_unit == ReorderingUnit::Segments,
                    "fack = true needs reordering_unit = segments",
                ),
                (!self.loss.rack, "rack = true needs ack_order = losses-first"),
                (
                    self.loss.tlp != Tlp::Rfc8985,
                    "tlp = rfc8985 needs ack_order = losses-first; with recovery-first there is draft",
                ),
                (
                    self.loss.timeout_marks == TimeoutMarks::All,
                    "timeout_marks = rack needs ack_order = losses-first",
                ),
                (
                    self.congestion.recovery != Recovery::PrrConservative,
                    "recovery = prr-conservative needs ack_order = losses-first",
                ),
                (
                    !matches!(
                        self.congestion.congestion_control,
                        CongestionControl::Bbr | CongestionControl::Dctcp
                    ),
                    "congestion_control = bbr, or dctcp, needs ack_order = losses-first",
                ),
            ],
            AckOrder::LossesFirst => vec![
                (!self.loss.fack, "fack = true needs ack_order = recovery-first"),
                (
                    self.loss.early_retransmit == EarlyRetransmit::Off,
                    "early_retransmit needs ack_order = recovery-first",
                ),
                (
                    self.loss.tlp != Tlp::Draft,
                    "tlp = draft needs ack_order = recovery-first; with losses-first there is rfc8985",
                ),
                (
                    self.loss.tlp == Tlp::Off
                        || self.loss.tlp_probes_bare_fin
                        || !self.loss.tlp_with_fin,
                    "tlp_probes_bare_fin = false needs ack_order = recovery-first or tlp_with_fin = false",
                ),
                (!self.loss.head_timeout, "head_timeout needs ack_order = recovery-first"),
                (
                    !self.loss.fack_lost_retransmits,
                    "fack_lost_retransmits needs ack_order = recovery-first",
                ),
                (
                    !self.loss.forward_retransmit,
                    "forward_retransmit needs ack_order = recovery-first",
                ),
                (
                    matches!(self.congestion.recovery, Recovery::Prr | Recovery::PrrConservative),
                    "recovery must be prr or prr-conservative with ack_order = losses-first",
                ),
                (
                    self.timers.rtt_samples == RttSamples::EachAck,
                    "rtt_samples = once-per-round-trip needs ack_order = recovery-first",
                ),
            ],
        }
    }
}
