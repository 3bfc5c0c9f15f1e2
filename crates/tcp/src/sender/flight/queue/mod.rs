//! The scoreboard: what was sent and not acknowledged, with what is known of each segment.

mod check;
mod order;
mod scoreboard;
mod sent;
mod shape;

use std::collections::VecDeque;

use rexmit_wire::SeqNum;

use crate::recovery::machine::Counts;

use sent::NONE;
pub use sent::{packets, time_of, Marks, Micros, SentSegment};

/// The segments in order of sequence numbers, a list of them in order of sending, and their counts.
///
/// It is no container of pieces as the analysis has: each cut numbers the list and the hints anew, and counts packets.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    segments: VecDeque<SentSegment>,
    /// The first segment's id: ids count up through the connection and outlive changes at the front.
    base: u32,
    oldest: u32,
    newest: u32,
    pub counts: Counts,
    /// Segments that share the memory of one before them.
    pub joined: u32,
    /// Losses marked so far, each transmission counted (`tp->lost`).
    pub losses: u32,
    /// After the highest SACKed segment (the start of `highest_sack`).
    highest_sack: SeqNum,
    /// Where the walk for retransmissions goes on (`retransmit_skb_hint`).
    pub retransmit_hint: Option<u32>,
    /// Where the count of SACKed segments goes on (`lost_skb_hint`, `lost_cnt_hint`).
    pub count_hint: Option<(u32, u32)>,
}

impl Queue {
    pub fn new(una: SeqNum) -> Self {
        Queue {
            segments: VecDeque::new(),
            base: 0,
            oldest: NONE,
            newest: NONE,
            counts: Counts::default(),
            joined: 0,
            losses: 0,
            highest_sack: una,
            retransmit_hint: None,
            count_hint: None,
        }
    }

    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Gives back the memory of an empty queue.
    pub fn rest(&mut self) {
        if self.is_empty() {
            self.segments = VecDeque::new();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub fn head(&self) -> Option<&SentSegment> {
        self.segments.front()
    }

    pub fn tail(&self) -> Option<&SentSegment> {
        self.segments.back()
    }

    pub fn at(&self, index: usize) -> &SentSegment {
        &self.segments[index]
    }

    pub fn at_mut(&mut self, index: usize) -> &mut SentSegment {
        &mut self.segments[index]
    }

    pub fn id(&self, index: usize) -> u32 {
        self.base.wrapping_add(index as u32)
    }

    /// The place of the segment with this id; past the end when it is gone.
    pub fn index_of_id(&self, id: u32) -> usize {
        id.wrapping_sub(self.base) as usize
    }

    /// The place of the segment that holds `seq`.
    pub fn find(&self, seq: SeqNum) -> Option<usize> {
        let index = self
            .segments
            .partition_point(|segment| !segment.end.is_after(seq));
        let holds = self.segments.get(index)?;
        (!holds.seq.is_after(seq)).then_some(index)
    }

    /// Packets of the segments before the one at `index`.
    pub fn packets_before(&self, index: usize) -> u32 {
        if self.counts.out as usize == self.segments.len() {
            return index as u32;
        }
        self.segments.range(..index).map(SentSegment::count).sum()
    }

    /// Packets sent and neither arrived nor lost (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        self.counts.in_flight()
    }

    /// After the highest SACKed segment; `una` when none is (`tcp_highest_sack_seq`).
    pub fn highest_sack(&self, una: SeqNum) -> SeqNum {
        if self.counts.sacked == 0 || self.highest_sack.is_before(una) {
            una
        } else {
            self.highest_sack
        }
    }

    /// No segment is SACKed any more (`tcp_highest_sack_reset`).
    pub fn reset_highest_sack(&mut self, una: SeqNum) {
        self.highest_sack = self.head().map_or(una, |head| head.seq);
    }

    /// The segment that ends at `end` is SACKed (`tcp_advance_highest_sack`).
    pub fn advance_highest_sack(&mut self, end: SeqNum) {
        self.highest_sack = end;
    }

    /// Adds a segment that was just sent for the first time.
    pub fn push(&mut self, segment: SentSegment) {
        self.counts.out += segment.count();
        self.segments.push_back(segment);
        self.list(self.segments.len() - 1);
    }

    /// Takes the first segment off; the counts are the caller's affair.
    pub fn pop_front(&mut self) {
        self.unlist(0);
        if self.retransmit_hint == Some(self.base) {
            self.retransmit_hint = None;
        }
        if self.count_hint.is_some_and(|(id, _)| id == self.base) {
            self.count_hint = None;
        }
        if let Some(gone) = self.segments.pop_front() {
            self.joined -= u32::from(gone.marks.any(Marks::JOINED));
        }
        self.base = self.base.wrapping_add(1);
        if self.segments.is_empty() && self.segments.capacity() > 64 {
            self.segments.shrink_to(16);
        }
    }

    /// Marks the segment lost, or its retransmission if that is in flight (`tcp_mark_skb_lost`).
    pub fn mark_lost(&mut self, index: usize) {
        let id = self.id(index);
        let segment = self.segments[index];
        if segment.is_sacked() {
            return;
        }
        self.note_retransmit_candidate(id);
        let count = segment.count();
        let marks = &mut self.segments[index].marks;
        if !segment.is_lost() {
            marks.set(Marks::LOST);
            self.counts.lost += count;
        } else if segment.has_retransmission_out() {
            marks.clear(Marks::RETRANSMISSION_OUT);
            self.counts.retransmissions -= count;
        } else {
            return;
        }
        self.losses += count;
    }

    /// The walk for retransmissions starts at the first lost segment without one in flight (`tcp_verify_retransmit_hint`).
    fn note_retransmit_candidate(&mut self, id: u32) {
        let earlier = match self.retransmit_hint {
            None => self.counts.retransmissions >= self.counts.lost,
            Some(hint) => (id.wrapping_sub(hint) as i32) < 0,
        };
        if earlier {
            self.retransmit_hint = Some(id);
        }
    }

    /// Forgets where walks go on (`tcp_clear_all_retrans_hints`).
    pub fn clear_hints(&mut self) {
        self.count_hint = None;
        self.retransmit_hint = None;
    }

    /// No segment counts as lost any more.
    pub fn unmark_lost(&mut self) {
        for segment in &mut self.segments {
            segment.marks.clear(Marks::LOST);
        }
        self.counts.lost = 0;
        self.clear_hints();
    }

    /// A segment below where the count goes on was SACKed.
    pub fn count_below_hint(&mut self, seq: SeqNum, segments: u32) {
        if let Some((id, count)) = self.count_hint {
            let index = self.index_of_id(id);
            if seq.is_before(self.at(index).seq) {
                self.count_hint = Some((id, count + segments));
            }
        }
    }

    /// SACKed segments were acknowledged.
    pub fn uncount_below_hint(&mut self, segments: u32) {
        if let Some((_, count)) = &mut self.count_hint {
            *count = count.saturating_sub(segments);
        }
    }
}
