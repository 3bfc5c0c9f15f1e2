//! Loss by the count of SACKed segments above (RFC 6675 §4 IsLost).

use rexmit_wire::SeqNum;

use super::super::Sender;

impl Sender {
    /// Marks segments from the head on until more than `most` SACKed ones lie below; or the head alone
    /// (`tcp_mark_head_lost`).
    pub(in super::super) fn mark_below(&mut self, most: u32, head_only: bool) {
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
