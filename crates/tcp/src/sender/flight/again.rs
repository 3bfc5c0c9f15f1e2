//! A segment that is sent again: as much of it as may go, and what is known of it then.

use rexmit_wire::SeqNum;

use super::queue::{Marks, SentSegment};
use super::Flight;

impl Flight {
    /// Readies a segment for being sent again, up to the end of the peer's `window` and of `most` packets: its head is trimmed, it
    /// is cut, or short ones behind it are joined to it that no packet holds that is `in_host`. Whether it may go
    /// (`__tcp_retransmit_skb`).
    pub(in super::super) fn ready_again(
        &mut self,
        index: usize,
        most: u32,
        window: SeqNum,
        in_host: impl Fn(&SentSegment) -> bool,
    ) -> bool {
        let (una, mss) = (self.una, self.sizes.mss);
        let segment = self.queue.at_mut(index);
        if segment.seq.is_before(una) {
            // tcp_trim_head
            segment.seq = una;
        }
        let segment = *segment;
        let mut room = window.offset_from(segment.seq);
        if room <= 0 {
            // A window that shrank to nothing is probed by its first segment.
            if segment.seq != una {
                return false;
            }
            room = mss as i32;
        }
        let room = room.unsigned_abs();
        let mut len = mss * most;
        if len > room {
            len = room / mss * mss;
            if len == 0 {
                len = room;
            }
        }
        if segment.len() > len {
            self.split(index, len);
        } else if segment.len() < room.min(mss) || self.settings.segments.linear_writes {
            self.join_following(index, room.min(mss), window, in_host);
        }
        true
    }

    /// Joins short segments behind one that is sent again (`tcp_retrans_try_collapse`).
    fn join_following(
        &mut self,
        index: usize,
        room: u32,
        window: SeqNum,
        in_host: impl Fn(&SentSegment) -> bool,
    ) {
        let linear = self.settings.segments.collapse_linear;
        if !self.settings.segments.retrans_collapse || self.sizes.apart {
            return;
        }
        let first = *self.queue.at(index);
        if first.packets > 1 || first.is_sacked() || (linear && !self.memory.can_collapse(&first)) {
            return;
        }
        let mut room = room.saturating_sub(first.len());
        while index + 1 < self.queue.len() {
            let next = *self.queue.at(index + 1);
            if next.packets > 1 || next.is_sacked() || in_host(&next) {
                return;
            }
            if linear && !self.memory.can_collapse(&next) {
                return;
            }
            if next.len() > room || next.end.is_after(window) {
                return;
            }
            room -= next.len();
            let seq = self.queue.at(index).seq;
            self.queue.join_next(index, self.sack);
            self.memory.join(seq, next.seq, next.len(), &self.settings);
        }
    }

    /// The segment left again: it is the youngest now.
    pub(in super::super) fn left_again(
        &mut self,
        index: usize,
        mut segment: SentSegment,
        marked: bool,
    ) {
        if marked {
            segment.marks.set(Marks::EVER_RETRANSMITTED);
        }
        segment.nxt_then = self.nxt;
        *self.queue.at_mut(index) = segment;
        self.queue.list(index);
    }

    /// A retransmission is about to leave by the walk.
    pub(in super::super) fn begin_retransmission(&mut self) {
        if self.queue.counts.retransmissions == 0 {
            self.fack.retransmitted_low = self.nxt;
        }
    }

    /// The retransmission counts as in flight.
    pub(in super::super) fn count_retransmission(&mut self, index: usize) {
        let segment = self.queue.at_mut(index);
        segment.marks.set(Marks::ANY_RETRANSMISSION);
        self.queue.counts.retransmissions += segment.count();
    }
}
