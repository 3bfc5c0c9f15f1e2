//! Cutting and joining segments, with what that does to ids and counts.

use super::sent::{packets, Marks, SentSegment, NONE};
use super::Queue;

impl Queue {
    /// Cuts a segment so that its first part holds `len` bytes of payload, in packets of `mss` (`tcp_fragment`).
    pub fn split(&mut self, index: usize, len: u32, mss: u32, sack: bool) {
        let whole = self.segments[index];
        let at = whole.seq + len;
        let mut rest = SentSegment { seq: at, ..whole };
        rest.marks.clear(Marks::LISTED | Marks::JOINED);
        let first = &mut self.segments[index];
        first.end = at;
        first.marks.clear(Marks::FIN | Marks::PUSH);
        first.packets = packets(first.len(), mss);
        rest.packets = packets(rest.len(), mss);
        let fewer = whole.count().saturating_sub(first.count() + rest.count());
        let more = (first.count() + rest.count()).saturating_sub(whole.count());
        self.renumber(self.id(index).wrapping_add(1), 1);
        self.segments.insert(index + 1, rest);
        if whole.marks.any(Marks::LISTED) {
            self.list_behind(index + 1, index);
        }
        self.adjust(&whole, fewer, more, sack);
    }

    /// Joins a segment with the one behind it (`tcp_collapse_retrans`).
    pub fn join_next(&mut self, index: usize, sack: bool) {
        let next = self.segments[index + 1];
        let id = self.id(index);
        if self.retransmit_hint == Some(id.wrapping_add(1)) {
            self.retransmit_hint = Some(id);
        }
        self.unlist(index + 1);
        self.segments.remove(index + 1);
        self.joined -= u32::from(next.marks.any(Marks::JOINED));
        self.renumber(id.wrapping_add(2), u32::MAX);
        let first = &mut self.segments[index];
        first.end = next.end;
        for flag in [Marks::FIN, Marks::PUSH, Marks::EVER_RETRANSMITTED] {
            if next.marks.any(flag) {
                first.marks.set(flag);
            }
        }
        self.count_hint = None;
        self.adjust(&next, next.count(), 0, sack);
    }

    /// Moves every id from `from` on by `by`.
    fn renumber(&mut self, from: u32, by: u32) {
        let base = self.base;
        let moved = |id: &mut u32| {
            if *id != NONE && id.wrapping_sub(base) >= from.wrapping_sub(base) {
                *id = id.wrapping_add(by);
            }
        };
        for segment in &mut self.segments {
            moved(&mut segment.older);
            moved(&mut segment.newer);
        }
        moved(&mut self.oldest);
        moved(&mut self.newest);
        if let Some(hint) = &mut self.retransmit_hint {
            moved(hint);
        }
        if let Some((hint, _)) = &mut self.count_hint {
            moved(hint);
        }
    }

    /// A segment makes fewer or more packets than before (`tcp_adjust_pcount`).
    fn adjust(&mut self, segment: &SentSegment, fewer: u32, more: u32, sack: bool) {
        let change = |count: &mut u32| *count = (*count + more).saturating_sub(fewer);
        change(&mut self.counts.out);
        if segment.is_sacked() {
            change(&mut self.counts.sacked);
        }
        if segment.has_retransmission_out() {
            change(&mut self.counts.retransmissions);
        }
        if segment.is_lost() {
            change(&mut self.counts.lost);
        }
        if !sack {
            self.counts.sacked = self.counts.sacked.saturating_sub(fewer);
        }
    }

    /// A segment newly SACKed moves its payload into the one before it, if that was SACKed as well, and the one behind it
    /// into that in turn: the packets that held them are freed (`tcp_shift_skb_data`).
    pub fn join_sacked(&mut self, index: usize, before: Marks) {
        // A retransmission of what is not lost stays apart.
        let apart = before.any(Marks::RETRANSMISSION_OUT) && !before.any(Marks::LOST);
        if apart || index == 0 || !self.may_join(index) {
            return;
        }
        self.join(index);
        if index + 1 < self.segments.len() && self.may_join(index + 1) {
            self.join(index + 1);
        }
    }

    /// Whether this segment and the one before it are SACKed and no more than that, of one length, and together small
    /// enough (`skb_shift`: 17 pages).
    fn may_join(&self, index: usize) -> bool {
        const PAGE: u32 = 4096;
        const PAGES: u32 = 17;
        let (one, two) = (&self.segments[index - 1], &self.segments[index]);
        let only_sacked = |segment: &SentSegment| {
            segment.is_sacked() && !segment.is_lost() && !segment.has_retransmission_out()
        };
        if !only_sacked(one) || !only_sacked(two) || one.len() != two.len() {
            return false;
        }
        let joined = |segment: &&SentSegment| segment.marks.any(Marks::JOINED);
        let run = self
            .segments
            .range(..index)
            .rev()
            .take_while(joined)
            .count() as u32;
        (run + 2) * two.len() <= PAGES * PAGE
    }

    fn join(&mut self, index: usize) {
        let marks = &mut self.segments[index].marks;
        if !marks.any(Marks::JOINED) {
            marks.set(Marks::JOINED);
            self.joined += 1;
        }
    }
}
