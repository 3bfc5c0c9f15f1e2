//! How far packets overtake each other, in segments: the threshold of duplicate acknowledgements follows it.

use rexmit_wire::SeqNum;

use super::alert::Doubtful;
use super::clean::Cleaned;
use super::Sender;
use crate::recovery::reordering;
use crate::settings::ReorderingUnit;

impl Sender {
    /// A segment never sent again was delivered although a higher one was before (`tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, low: SeqNum) {
        let high = self.queue.highest_sack(self.una);
        let (mss, most) = (self.mss, self.settings.max_reordering);
        self.detection.note_overtaken(low, high, mss, most);
    }

    /// What was acknowledged and not SACKed is late if a higher segment was SACKed before.
    pub(super) fn note_late(&mut self, before: &Doubtful, cleaned: &Cleaned) {
        match self.settings.reordering_unit {
            ReorderingUnit::Segments => {
                let late = cleaned
                    .before_late
                    .filter(|late| *late < before.prior_reach);
                if let Some(late) = late {
                    let reach = self.detection.fack.reach;
                    self.note_reordering_of(reach.saturating_sub(late));
                }
            }
            ReorderingUnit::Bytes => {
                let late = cleaned
                    .late
                    .filter(|late| late.is_before(before.prior_highest));
                if let Some(late) = late {
                    self.note_reordering(late);
                }
            }
        }
    }

    /// Without SACK, each duplicate acknowledgement stands for a segment delivered out of order; more of them than segments
    /// are out mean reordering (`tcp_add_reno_sack`).
    pub(super) fn add_duplicate(&mut self, count: u32) {
        if count == 0 {
            return;
        }
        let before = self.queue.sacked;
        self.queue.sacked += count;
        self.check_duplicates(0);
        self.delivered += self.queue.sacked.saturating_sub(before);
    }

    /// Of `acked` segments one filled the hole, the others had been counted as duplicates (`tcp_remove_reno_sacks`).
    pub(super) fn remove_duplicates(&mut self, acked: u32) {
        if acked > 0 {
            self.delivered += acked.saturating_sub(self.queue.sacked).max(1);
            self.queue.sacked = self.queue.sacked.saturating_sub(acked - 1);
        }
        self.check_duplicates(acked);
    }

    /// `tcp_check_reno_reordering`
    fn check_duplicates(&mut self, acked: u32) {
        if !self.limit_duplicates() {
            return;
        }
        if self.settings.reordering_unit == ReorderingUnit::Segments {
            self.note_reordering_of(self.queue.out + acked);
        } else {
            self.detection.threshold = (self.queue.out + acked).min(self.settings.max_reordering);
            self.detection.reordering_seen += 1;
        }
    }

    /// Duplicates and losses are never more than what is out; whether they would have been (`tcp_limit_reno_sacked`).
    pub(super) fn limit_duplicates(&mut self) -> bool {
        let queue = &mut self.queue;
        match reordering::limit_duplicates(queue.sacked, queue.lost, queue.out) {
            Some(duplicates) => {
                queue.sacked = duplicates;
                true
            }
            None => false,
        }
    }
}
