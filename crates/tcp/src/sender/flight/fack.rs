//! Marking as before Linux 4.18, with forward acknowledgement (`tcp_fack`) or without: what lies so far below the highest
//! SACK as reordering explains is lost.

use rexmit_wire::SeqNum;

use super::queue::{Marks, Queue, SentSegment};
use super::Flight;

use crate::recovery::fack;
use crate::settings::AckOrder;

/// FACK's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fack {
    /// Segments from the first up to the highest SACK (`fackets_out`).
    pub reach: u32,
    /// The least that had been sent when a retransmission in flight was (`lost_retrans_low`).
    pub retransmitted_low: SeqNum,
    /// After the highest segment marked lost (`retransmit_high`).
    pub lost_end: SeqNum,
    /// Where the walk for overdue segments goes on (`scoreboard_skb_hint`).
    pub timeout_hint: Option<u32>,
}

impl Fack {
    pub fn new(first: SeqNum) -> Self {
        Fack {
            reach: 0,
            retransmitted_low: first,
            lost_end: first,
            timeout_hint: None,
        }
    }

    /// With FACK, what is overdue, from the head up to the first segment that is not (`tcp_timeout_skbs`).
    pub fn mark_overdue(&mut self, queue: &mut Queue, overdue: impl Fn(&SentSegment) -> bool) {
        let mut index = self.timeout_hint.map_or(0, |id| queue.index_of_id(id));
        while index < queue.len() && overdue(queue.at(index)) {
            self.mark_lost(queue, index);
            index += 1;
        }
        self.timeout_hint = (index < queue.len()).then(|| queue.id(index));
    }

    /// `tcp_skb_mark_lost`
    pub fn mark_lost(&mut self, queue: &mut Queue, index: usize) {
        let segment = *queue.at(index);
        if segment.is_lost() || segment.is_sacked() {
            return;
        }
        self.note_lost(queue, index);
        queue.counts.lost += segment.count();
        queue.at_mut(index).marks.set(Marks::LOST);
    }

    /// The walk for retransmissions is to come by the segment (`tcp_verify_retransmit_hint`, 3.10).
    fn note_lost(&mut self, queue: &mut Queue, index: usize) {
        let (id, end) = (queue.id(index), queue.at(index).end);
        let hint = queue.retransmit_hint;
        if hint.is_none_or(|hint| (id.wrapping_sub(hint) as i32) < 0) {
            queue.retransmit_hint = Some(id);
        }
        if queue.counts.lost == 0 || end.is_after(self.lost_end) {
            self.lost_end = end;
        }
    }

    /// Marks all lost that is not SACKed, what was sent again as well.
    pub fn mark_all_lost(&mut self, queue: &mut Queue) {
        queue.counts.retransmissions = 0;
        queue.counts.lost = 0;
        for index in 0..queue.len() {
            let segment = queue.at_mut(index);
            segment.marks.clear(Marks::RETRANSMISSION_OUT | Marks::LOST);
            if !segment.is_sacked() {
                segment.marks.set(Marks::LOST);
                self.lost_end = segment.end;
                queue.counts.lost += segment.count();
            }
        }
    }

    /// A retransmission is lost when something sent after it was SACKed (`tcp_mark_lost_retrans`).
    pub fn mark_lost_retransmissions(&mut self, queue: &mut Queue, una: SeqNum, nxt: SeqNum) {
        let received = queue.highest_sack(una);
        if queue.counts.retransmissions == 0 || !received.is_after(self.retransmitted_low) {
            return;
        }
        let mut low = nxt;
        let mut seen = 0;
        for index in 0..queue.len() {
            if seen == queue.counts.retransmissions {
                break;
            }
            let segment = *queue.at(index);
            if !segment.end.is_after(una) || !segment.has_retransmission_out() {
                continue;
            }
            if fack::retransmission_is_lost(received, segment.nxt_then) {
                queue.at_mut(index).marks.clear(Marks::RETRANSMISSION_OUT);
                queue.counts.retransmissions -= segment.count();
                self.note_lost(queue, index);
                if !segment.is_lost() && !segment.is_sacked() {
                    queue.counts.lost += segment.count();
                    queue.at_mut(index).marks.set(Marks::LOST);
                }
            } else {
                if segment.nxt_then.is_before(low) {
                    low = segment.nxt_then;
                }
                seen += segment.count();
            }
        }
        if queue.counts.retransmissions > 0 {
            self.retransmitted_low = low;
        }
    }
}

impl Flight {
    /// Marks the first `most` segments, those with more SACKed ones above if it counts `by_sack`, as far as they end at `limit`
    /// (`tcp_mark_head_lost`).
    pub(super) fn mark_from_head(
        &mut self,
        most: u32,
        head_only: bool,
        by_sack: bool,
        limit: SeqNum,
    ) {
        let (mut index, mut count) = match self.queue.count_hint {
            Some((id, count)) => (self.queue.index_of_id(id), count),
            None => (0, 0),
        };
        if head_only && index > 0 {
            return;
        }
        while index < self.queue.len() {
            let segment = *self.queue.at(index);
            self.queue.count_hint = Some((self.queue.id(index), count));
            if segment.end.is_after(limit) {
                break;
            }
            let passed = count;
            if !by_sack || segment.is_sacked() {
                count += segment.count();
            }
            if count > most {
                if by_sack || segment.is_sacked() || passed >= most {
                    break;
                }
                let len = (most - passed) * self.sizes.mss;
                self.split(index, len);
                count = most;
            }
            if self.settings.loss.ack_order == AckOrder::RecoveryFirst {
                self.fack.mark_lost(&mut self.queue, index);
            } else if !self.queue.at(index).is_lost() {
                self.queue.mark_lost(index);
            }
            if head_only {
                break;
            }
            index += 1;
        }
    }
}
