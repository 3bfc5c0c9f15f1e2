//! Loss by the count of SACKed segments above (RFC 6675 §4 IsLost).

use rexmit_wire::SeqNum;

use super::super::Sender;
use crate::recovery::dupack::{self, Marks};
use crate::settings::ReorderingUnit;

impl Sender {
    /// More segments were SACKed than reordering explains (`tcp_dupack_heuristics`).
    pub(in super::super) fn duplicates_say_lost(&self) -> bool {
        dupack::says_lost(self.queue.sacked, self.detection.threshold)
    }

    /// The highest SACK is further above than reordering explains (`tcp_force_fast_retransmit`, 6.x; 3.10
    /// counts segments).
    pub(in super::super) fn sack_is_far(&self) -> bool {
        if self.settings.reordering_unit == ReorderingUnit::Segments {
            return dupack::reach_is_far(self.fack_reach(), self.detection.threshold);
        }
        let highest = self.queue.highest_sack(self.una);
        dupack::sack_is_far(self.una, highest, self.detection.threshold, self.mss)
    }

    /// Marks what has as many SACKed segments above as reordering explains; else, when a recovery begins, the head
    /// (`tcp_update_scoreboard`).
    pub(in super::super) fn mark_lost_by_count(&mut self, begins: bool) {
        if !self.sack {
            return;
        }
        match dupack::marks(
            true,
            None,
            self.queue.sacked,
            self.detection.threshold,
            begins,
        ) {
            Marks::BelowSacked(most) | Marks::First(most) => self.mark_below(most, false),
            Marks::Head => self.mark_below(1, true),
            Marks::Nothing => {}
        }
    }

    /// Marks segments from the head on until more than `most` SACKed ones lie below; or the head alone
    /// (`tcp_mark_head_lost`).
    fn mark_below(&mut self, most: u32, head_only: bool) {
        let (mut index, mut count) = match self.queue.count_hint {
            Some((id, count)) => (self.queue.index_of_id(id), count),
            None => (0, 0),
        };
        let moved = self.queue.count_hint.is_some() && self.queue.at(index).seq.is_after(self.una);
        if head_only && moved {
            return;
        }
        while index < self.queue.len() {
            let segment = *self.queue.at(index);
            self.queue.count_hint = Some((self.queue.id(index), count));
            if segment.is_sacked() {
                count += segment.count();
            }
            if count > most {
                break;
            }
            if !segment.is_lost() {
                self.queue.mark_lost(index);
            }
            if head_only {
                break;
            }
            index += 1;
        }
    }

    /// A segment below where the count goes on was SACKed.
    pub(in super::super) fn count_below_hint(&mut self, seq: SeqNum, segments: u32) {
        if let Some((id, count)) = self.queue.count_hint {
            let index = self.queue.index_of_id(id);
            if seq.is_before(self.queue.at(index).seq) {
                self.queue.count_hint = Some((id, count + segments));
            }
        }
    }

    /// SACKed segments were acknowledged.
    pub(in super::super) fn uncount_hint(&mut self, segments: u32) {
        if let Some((_, count)) = &mut self.queue.count_hint {
            *count = count.saturating_sub(segments);
        }
    }
}
