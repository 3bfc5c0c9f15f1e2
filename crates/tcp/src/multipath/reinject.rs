//! What a subflow has out is sent again on another (`mptcp_reinject_data`).

use rexmit_time::Time;

use super::mapping::Mapping;
use super::pieces::Piece;
use super::Meta;
use crate::settings::MptcpProbe;

impl Meta {
    /// A subflow timed out: all it has out goes to others as well, and it takes nothing new until it hears something
    /// (`mptcp_sub_retransmit_timer`).
    pub(super) fn reinject_all(&mut self, now: Time, index: usize) {
        for mapping in self.subflows[index].outstanding() {
            self.reinject(&mapping);
        }
        self.subflows[index].failed = true;
        self.push_pieces(now);
    }

    /// A subflow sends a tail loss probe: the first of what it has out, or all, goes to another as well (Probe or Wait 2017,
    /// section V).
    pub(super) fn reinject_on_probe(&mut self, now: Time, index: usize) {
        let most = match self.settings.mptcp_reinject_on_probe {
            MptcpProbe::Off => 0,
            MptcpProbe::Head => 1,
            MptcpProbe::All => usize::MAX,
        };
        let una = self.una;
        let mut outstanding = self.subflows[index].outstanding();
        outstanding.retain(|map| map.data_end() > una);
        for map in outstanding.iter().take(most) {
            let taken = if self.is_upstream() {
                self.reinject_upstream(now, index, map)
            } else {
                self.reinject(map)
            };
            self.counters.probe_reinjections += u64::from(taken);
        }
        if !self.is_upstream() && most > 0 {
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
        let wanted = wanted && mapping.data_end() > self.una;
        if wanted {
            self.pieces.send_again(Piece {
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
            if !self.is_active(other) {
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
        let start = lost.data.max(self.una);
        let carries = |other: usize| {
            let outstanding = self.subflows[other].outstanding();
            outstanding
                .iter()
                .any(|map| map.data <= start && start < map.data_end())
        };
        let Some((_, other)) =
            best.filter(|(_, other)| self.has_memory(*other) && !carries(*other))
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
