//! Marking as before Linux 4.18, with forward acknowledgement (`tcp_fack`) or without: what lies so far below the highest
//! SACK as reordering explains is lost.

use rexmit_wire::SeqNum;

use super::queue::{Marks, Sent};
use super::{Sender, State};
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
}

impl Sender {
    /// Marks the first `most` segments, with plain SACK those with more SACKed ones above (`tcp_mark_head_lost`).
    pub(super) fn mark_from_head(&mut self, most: u32, head_only: bool) {
        let by_sack = self.sack && !self.detection.fack;
        let limit = if self.sack {
            self.nxt
        } else {
            self.episode.point
        };
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
            self.mark_lost_by_count(index);
            if head_only {
                break;
            }
            index += 1;
        }
    }

    fn mark_lost_by_count(&mut self, index: usize) {
        if self.settings.loss.ack_order == AckOrder::RecoveryFirst {
            self.mark_lost_counted(index);
        } else if !self.queue.at(index).is_lost() {
            self.queue.mark_lost(index);
        }
    }

    /// `tcp_skb_timedout`
    pub(super) fn is_overdue(&self, segment: &Sent) -> bool {
        let age = self
            .moment
            .ticks_span(self.moment.tick() - self.moment.tick_of(segment.at));
        fack::timed_out(age, self.timing.rto)
    }

    /// With FACK, what has been out for more than a timeout, from the head up to the first that has not
    /// (`tcp_timeout_skbs`).
    pub(super) fn mark_timed_out(&mut self) {
        let mut index = self
            .fack
            .timeout_hint
            .map_or(0, |id| self.queue.index_of_id(id));
        while index < self.queue.len() && self.is_overdue(self.queue.at(index)) {
            self.mark_lost_counted(index);
            index += 1;
        }
        self.fack.timeout_hint = (index < self.queue.len()).then(|| self.queue.id(index));
    }

    /// `tcp_skb_mark_lost`
    fn mark_lost_counted(&mut self, index: usize) {
        let segment = *self.queue.at(index);
        if segment.is_lost() || segment.is_sacked() {
            return;
        }
        self.note_lost(index);
        self.queue.lost += segment.count();
        self.queue.at_mut(index).marks.set(Marks::LOST);
    }

    /// The walk for retransmissions is to come by the segment (`tcp_verify_retransmit_hint`, 3.10).
    fn note_lost(&mut self, index: usize) {
        let id = self.queue.id(index);
        let end = self.queue.at(index).end;
        let earlier = self
            .queue
            .retransmit_hint
            .is_none_or(|hint| (id.wrapping_sub(hint) as i32) < 0);
        if earlier {
            self.queue.retransmit_hint = Some(id);
        }
        if self.queue.lost == 0 || end.is_after(self.fack.lost_end) {
            self.fack.lost_end = end;
        }
    }

    /// A segment below where the count goes on was SACKed.
    pub(super) fn count_below_hint(&mut self, seq: SeqNum, segments: u32) {
        if let Some((id, count)) = self.queue.count_hint {
            let index = self.queue.index_of_id(id);
            if seq.is_before(self.queue.at(index).seq) {
                self.queue.count_hint = Some((id, count + segments));
            }
        }
    }

    /// SACKed segments were acknowledged.
    pub(super) fn uncount_hint(&mut self, segments: u32) {
        if let Some((_, count)) = &mut self.queue.count_hint {
            *count = count.saturating_sub(segments);
        }
    }

    /// A retransmission is lost when something sent after it was SACKed (`tcp_mark_lost_retrans`).
    pub(super) fn mark_lost_retransmissions(&mut self) {
        let received = self.queue.highest_sack(self.una);
        if !self.settings.loss.fack_lost_retransmits
            || !self.detection.fack
            || self.queue.retransmissions_out == 0
            || !received.is_after(self.fack.retransmitted_low)
            || self.episode.state != State::Recovery
        {
            return;
        }
        let mut low = self.nxt;
        let mut seen = 0;
        for index in 0..self.queue.len() {
            if seen == self.queue.retransmissions_out {
                break;
            }
            let segment = *self.queue.at(index);
            if !segment.end.is_after(self.una) || !segment.has_retransmission_out() {
                continue;
            }
            if fack::retransmission_is_lost(received, segment.nxt_then) {
                self.queue
                    .at_mut(index)
                    .marks
                    .clear(Marks::RETRANSMISSION_OUT);
                self.queue.retransmissions_out -= segment.count();
                self.note_lost(index);
                if !segment.is_lost() && !segment.is_sacked() {
                    self.queue.lost += segment.count();
                    self.queue.at_mut(index).marks.set(Marks::LOST);
                }
            } else {
                if segment.nxt_then.is_before(low) {
                    low = segment.nxt_then;
                }
                seen += segment.count();
            }
        }
        if self.queue.retransmissions_out > 0 {
            self.fack.retransmitted_low = low;
        }
    }
}
