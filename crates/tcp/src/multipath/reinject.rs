//! What a subflow has out is sent again on another (`mptcp_reinject_data`).

use rexmit_time::Time;

use super::mapping::Mapping;
use super::pieces::DataPiece;
use super::subflow::Subflow;
use super::Meta;
use crate::sender::CaState;
use crate::settings::MptcpReinject;

/// When a subflow's data may be sent again on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trigger {
    /// It timed out (`mptcp_sub_retransmit_timer`).
    Timeout,
    /// It sends a tail loss probe (Probe or Wait 2017, section V).
    Probe,
    /// It begins to repair a loss without a timeout.
    Recovery,
}

/// How often a subflow did what triggers may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Watched {
    timeouts: u32,
    probes: u32,
    recovers: bool,
}

impl Watched {
    /// What happened between `before` and now, but for the probe.
    pub fn since(self, before: Watched) -> Option<Trigger> {
        if self.timeouts > before.timeouts {
            return Some(Trigger::Timeout);
        }
        (self.recovers && !before.recovers).then_some(Trigger::Recovery)
    }

    /// A probe left since `before`.
    pub fn probed_since(self, before: Watched) -> bool {
        self.probes > before.probes
    }
}

impl Subflow {
    /// What triggers follow.
    pub fn watch(&self) -> Watched {
        let counters = self.connection.counters();
        let sender = self.sender();
        Watched {
            timeouts: counters.timeouts,
            probes: counters.probes,
            recovers: sender.is_some_and(|sender| sender.state() == CaState::Recovery),
        }
    }
}

impl Meta {
    /// What the subflow has out goes to others as well, as far as the settings say. One that timed out takes nothing new out
    /// of tree until it hears something.
    pub(super) fn reinject_after(&mut self, now: Time, index: usize, trigger: Trigger) {
        let settings = &self.settings;
        let most = match match trigger {
            Trigger::Timeout => settings.multipath.mptcp_reinject_on_timeout,
            Trigger::Probe => settings.multipath.mptcp_reinject_on_probe,
            Trigger::Recovery => settings.multipath.mptcp_reinject_on_recovery,
        } {
            MptcpReinject::Off => return,
            MptcpReinject::Head => 1,
            MptcpReinject::All => usize::MAX,
        };
        let una = self.data.una;
        let mut outstanding = self.subflows[index].outstanding();
        outstanding.retain(|map| map.data_end() > una);
        for map in outstanding.iter().take(most) {
            let taken = if self.is_upstream() {
                self.reinject_upstream(now, index, map)
            } else {
                self.reinject(map)
            };
            self.counters.probe_reinjections += u64::from(taken && trigger == Trigger::Probe);
        }
        if !self.is_upstream() {
            self.subflows[index].failed |= trigger == Trigger::Timeout;
            self.push_pieces(now);
        }
    }

    /// Puts a copy of a segment among those to be sent again, unless every subflow that works has carried it or it arrived
    /// (`__mptcp_reinject_data`). Whether it did.
    fn reinject(&mut self, mapping: &Mapping) -> bool {
        let works = |index: usize| {
            let subflow = &self.subflows[index];
            subflow.is_usable() && !subflow.failed && mapping.carried_by & (1 << index) == 0
        };
        let wanted = (0..self.subflows.len()).any(works);
        let wanted = wanted && mapping.data_end() > self.data.una;
        if wanted {
            self.pieces.send_again(DataPiece {
                start: mapping.data,
                end: mapping.data_end(),
                carried_by: mapping.carried_by,
            });
        }
        wanted
    }

    /// The segment goes at once to the subflow that the scheduler would take if there were not the one that probes, unless
    /// that carries it already. Whether it took any of it.
    fn reinject_upstream(&mut self, now: Time, index: usize, lost: &Mapping) -> bool {
        let mut best: Option<(u64, usize)> = None;
        for other in (0..self.subflows.len()).filter(|other| *other != index) {
            if !self.subflows[other].is_active() {
                continue;
            }
            let subflow = &self.subflows[other];
            let Some(sender) = subflow.sender() else {
                continue;
            };
            let rate = match subflow.rate {
                0 => sender.pacing_rate(),
                rate => rate,
            };
            let linger = (u64::from(sender.buffered()) << 32) / u64::from(rate as u32).max(1);
            if best.is_none_or(|(least, _)| linger < least) {
                best = Some((linger, other));
            }
        }
        let start = lost.data.max(self.data.una);
        let carries = |other: usize| {
            let outstanding = self.subflows[other].outstanding();
            outstanding
                .iter()
                .any(|map| map.data <= start && start < map.data_end())
        };
        let Some((_, other)) =
            best.filter(|(_, other)| self.subflows[*other].has_memory() && !carries(*other))
        else {
            return false;
        };
        let mut at = start;
        while at < lost.data_end() {
            let left = (lost.data_end() - at) as u32;
            let some = self.hand_segment(now, other, at, left);
            if some == 0 {
                break;
            }
            at += u64::from(some);
        }
        self.push_subflow(now, other);
        at > start
    }
}
