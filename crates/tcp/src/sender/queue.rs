//! The scoreboard: what was sent and not acknowledged, with what is known of each segment.

use std::collections::VecDeque;

use rexmit_wire::SeqNum;

/// Microseconds on the connection's clock, the unit in which Linux keeps the time of sending.
pub(super) type Micros = u64;

/// No segment.
const NONE: u32 = u32::MAX;

/// What is known of a segment, and the flags it was sent with; one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u16);

impl Marks {
    /// The receiver has it out of order (`TCPCB_SACKED_ACKED`).
    pub const SACKED: Marks = Marks(1);
    /// A resend of it is on its way (`TCPCB_SACKED_RETRANS`).
    pub const RESENT: Marks = Marks(2);
    /// Deemed lost (`TCPCB_LOST`).
    pub const LOST: Marks = Marks(4);
    /// Was sent more than once (`TCPCB_EVER_RETRANS`).
    pub const EVER_RESENT: Marks = Marks(8);
    /// Its delivery entered a sample already (`tx.delivered_mstamp` is zero).
    pub const SAMPLED: Marks = Marks(16);
    /// Carries the FIN.
    pub const FIN: Marks = Marks(32);
    /// Carries PSH.
    pub const PUSH: Marks = Marks(64);
    /// Stands in the list by time of sending.
    const LISTED: Marks = Marks(128);
    /// Shares the memory of the segment before it, which was SACKed too.
    pub const JOINED: Marks = Marks(256);
    /// Sent again at any time, as Karn's rule asks (`TCPCB_RETRANS`).
    pub const ANY_RESENT: Marks = Marks(2 | 8);

    /// Whether a bit of `other` is set.
    pub const fn any(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }

    /// Sets the bits of `other`.
    pub fn set(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    /// Clears the bits of `other`.
    pub fn clear(&mut self, other: Marks) {
        self.0 &= !other.0;
    }
}

impl core::ops::BitOr for Marks {
    type Output = Marks;
    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Its first byte.
    pub seq: SeqNum,
    /// After its last byte, the FIN counted.
    pub end: SeqNum,
    /// When it was sent last.
    pub at: Micros,
    /// Segments that had been delivered when it was sent last.
    pub delivered: u32,
    /// The number of its last transmission among the packets of this sender.
    pub transmission: u32,
    /// What had been sent when it was sent again last (`ack_seq` of a resent skb before 4.4).
    pub nxt_then: SeqNum,
    /// The neighbour sent before it.
    older: u32,
    /// The neighbour sent after it.
    newer: u32,
    /// Packets it makes on the wire (`tcp_skb_pcount`).
    pub packets: u16,
    /// What is known of it.
    pub marks: Marks,
}

impl Sent {
    /// A segment never sent before.
    pub fn new(seq: SeqNum, end: SeqNum, packets: u16, marks: Marks) -> Self {
        Sent {
            seq,
            end,
            at: 0,
            delivered: 0,
            transmission: 0,
            nxt_then: end,
            older: NONE,
            newer: NONE,
            packets,
            marks,
        }
    }

    /// Payload bytes.
    pub fn len(&self) -> u32 {
        self.end.offset_from(self.seq).unsigned_abs() - u32::from(self.marks.any(Marks::FIN))
    }

    /// Packets, as the counters count them.
    pub fn count(&self) -> u32 {
        u32::from(self.packets)
    }

    pub fn is_sacked(&self) -> bool {
        self.marks.any(Marks::SACKED)
    }

    pub fn is_lost(&self) -> bool {
        self.marks.any(Marks::LOST)
    }

    pub fn is_resent(&self) -> bool {
        self.marks.any(Marks::RESENT)
    }
}

/// The segments in order of sequence numbers, a list of them in order of sending, and their counts.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    segments: VecDeque<Sent>,
    /// The first segment's id: ids count up through the connection and outlive changes at the front.
    base: u32,
    oldest: u32,
    newest: u32,
    /// Packets not acknowledged (`packets_out`).
    pub out: u32,
    /// Of them SACKed; without SACK, duplicate acknowledgements (`sacked_out`).
    pub sacked: u32,
    /// Of them deemed lost (`lost_out`).
    pub lost: u32,
    /// Resends in flight (`retrans_out`).
    pub resent: u32,
    /// Segments that share the memory of one before them.
    pub joined: u32,
    /// Losses marked so far, each transmission counted (`tp->lost`).
    pub losses: u32,
    /// After the highest SACKed segment (the start of `highest_sack`).
    highest_sack: SeqNum,
    /// Where the walk for resends goes on (`retransmit_skb_hint`).
    pub resend_hint: Option<u32>,
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
            out: 0,
            sacked: 0,
            lost: 0,
            resent: 0,
            joined: 0,
            losses: 0,
            highest_sack: una,
            resend_hint: None,
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

    pub fn head(&self) -> Option<&Sent> {
        self.segments.front()
    }

    pub fn at(&self, index: usize) -> &Sent {
        &self.segments[index]
    }

    pub fn at_mut(&mut self, index: usize) -> &mut Sent {
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
        if self.out as usize == self.segments.len() {
            return index as u32;
        }
        self.segments.range(..index).map(Sent::count).sum()
    }

    /// Packets sent and neither arrived nor lost (`tcp_packets_in_flight`).
    pub fn in_flight(&self) -> u32 {
        (self.out + self.resent).saturating_sub(self.sacked + self.lost)
    }

    /// Packets that left the network or never got through it (`tcp_left_out`).
    pub fn left_out(&self) -> u32 {
        self.sacked + self.lost
    }

    /// After the highest SACKed segment; `una` when none is (`tcp_highest_sack_seq`).
    pub fn highest_sack(&self, una: SeqNum) -> SeqNum {
        if self.sacked == 0 || self.highest_sack.is_before(una) {
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
    pub fn push(&mut self, segment: Sent) {
        self.out += segment.count();
        self.segments.push_back(segment);
        self.list(self.segments.len() - 1);
    }

    /// Takes the first segment off; the counts are the caller's affair.
    pub fn pop_front(&mut self) {
        self.unlist(0);
        if self.resend_hint == Some(self.base) {
            self.resend_hint = None;
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

    /// The oldest transmission in the list by time of sending.
    pub fn oldest(&self) -> Option<usize> {
        (self.oldest != NONE).then(|| self.index_of_id(self.oldest))
    }

    /// The transmission after that of the segment at `index`.
    pub fn next_sent(&self, index: usize) -> Option<usize> {
        let newer = self.segments[index].newer;
        (newer != NONE).then(|| self.index_of_id(newer))
    }

    /// A segment newly SACKed moves its payload into the one before it, if that was SACKed as well, and the one behind it
    /// into that in turn: the packets that held them are freed (`tcp_shift_skb_data`).
    pub fn join_sacked(&mut self, index: usize, before: Marks) {
        // A resend of what is not lost stays apart.
        let apart = before.any(Marks::RESENT) && !before.any(Marks::LOST);
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
        let only_sacked =
            |segment: &Sent| segment.is_sacked() && !segment.is_lost() && !segment.is_resent();
        if !only_sacked(one) || !only_sacked(two) || one.len() != two.len() {
            return false;
        }
        let joined = |segment: &&Sent| segment.marks.any(Marks::JOINED);
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

    /// Puts the segment at the end of the list by time of sending (`list_move_tail` on `tsorted_sent_queue`).
    pub fn list(&mut self, index: usize) {
        self.unlist(index);
        let id = self.id(index);
        let newest = self.newest;
        let segment = &mut self.segments[index];
        segment.marks.set(Marks::LISTED);
        segment.older = newest;
        segment.newer = NONE;
        if newest == NONE {
            self.oldest = id;
        } else {
            let before = self.index_of_id(newest);
            self.segments[before].newer = id;
        }
        self.newest = id;
    }

    /// Takes the segment out of the list by time of sending.
    pub fn unlist(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        if !segment.marks.any(Marks::LISTED) {
            return;
        }
        segment.marks.clear(Marks::LISTED);
        let (older, newer) = (segment.older, segment.newer);
        if older == NONE {
            self.oldest = newer;
        } else {
            let before = self.index_of_id(older);
            self.segments[before].newer = newer;
        }
        if newer == NONE {
            self.newest = older;
        } else {
            let after = self.index_of_id(newer);
            self.segments[after].older = older;
        }
    }

    /// Marks the segment lost, or its resend if that is in flight (`tcp_mark_skb_lost`).
    pub fn mark_lost(&mut self, index: usize) {
        let id = self.id(index);
        let segment = self.segments[index];
        if segment.is_sacked() {
            return;
        }
        self.note_resend_candidate(id);
        let count = segment.count();
        let marks = &mut self.segments[index].marks;
        if !segment.is_lost() {
            marks.set(Marks::LOST);
            self.lost += count;
        } else if segment.is_resent() {
            marks.clear(Marks::RESENT);
            self.resent -= count;
        } else {
            return;
        }
        self.losses += count;
    }

    /// The walk for resends starts at the first lost segment of those not resent (`tcp_verify_retransmit_hint`).
    fn note_resend_candidate(&mut self, id: u32) {
        let earlier = match self.resend_hint {
            None => self.resent >= self.lost,
            Some(hint) => (id.wrapping_sub(hint) as i32) < 0,
        };
        if earlier {
            self.resend_hint = Some(id);
        }
    }

    /// Forgets where walks go on (`tcp_clear_all_retrans_hints`).
    pub fn clear_hints(&mut self) {
        self.count_hint = None;
        self.resend_hint = None;
    }

    /// No segment counts as lost any more.
    pub fn unmark_lost(&mut self) {
        for segment in &mut self.segments {
            segment.marks.clear(Marks::LOST);
        }
        self.lost = 0;
        self.clear_hints();
    }

    /// Cuts a segment so that its first part holds `len` bytes of payload, in packets of `mss` (`tcp_fragment`).
    pub fn split(&mut self, index: usize, len: u32, mss: u32, sack: bool) {
        let whole = self.segments[index];
        let at = whole.seq + len;
        let mut rest = Sent { seq: at, ..whole };
        rest.marks.clear(Marks::LISTED);
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
        if self.resend_hint == Some(id.wrapping_add(1)) {
            self.resend_hint = Some(id);
        }
        self.unlist(index + 1);
        self.segments.remove(index + 1);
        self.renumber(id.wrapping_add(2), u32::MAX);
        let first = &mut self.segments[index];
        first.end = next.end;
        for flag in [Marks::FIN, Marks::PUSH, Marks::EVER_RESENT] {
            if next.marks.any(flag) {
                first.marks.set(flag);
            }
        }
        self.count_hint = None;
        self.adjust(&next, next.count(), 0, sack);
    }

    /// Puts a segment into the list by time of sending right behind another.
    fn list_behind(&mut self, index: usize, behind: usize) {
        let id = self.id(index);
        let older = self.id(behind);
        let newer = self.segments[behind].newer;
        let segment = &mut self.segments[index];
        segment.marks.set(Marks::LISTED);
        segment.older = older;
        segment.newer = newer;
        self.segments[behind].newer = id;
        if newer == NONE {
            self.newest = id;
        } else {
            let after = self.index_of_id(newer);
            self.segments[after].older = id;
        }
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
        if let Some(hint) = &mut self.resend_hint {
            moved(hint);
        }
        if let Some((hint, _)) = &mut self.count_hint {
            moved(hint);
        }
    }

    /// A segment makes fewer or more packets than before (`tcp_adjust_pcount`).
    fn adjust(&mut self, segment: &Sent, fewer: u32, more: u32, sack: bool) {
        let change = |count: &mut u32| *count = (*count + more).saturating_sub(fewer);
        change(&mut self.out);
        if segment.is_sacked() {
            change(&mut self.sacked);
        }
        if segment.is_resent() {
            change(&mut self.resent);
        }
        if segment.is_lost() {
            change(&mut self.lost);
        }
        if !sack {
            self.sacked = self.sacked.saturating_sub(fewer);
        }
    }

    /// Counts everything afresh and compares; for tests.
    pub fn check(&self, sack: bool) -> Result<(), String> {
        let mut out = 0;
        let (mut sacked, mut lost, mut resent) = (0, 0, 0);
        for segment in &self.segments {
            out += segment.count();
            sacked += u32::from(segment.is_sacked()) * segment.count();
            lost += u32::from(segment.is_lost()) * segment.count();
            resent += u32::from(segment.is_resent()) * segment.count();
            if segment.is_sacked() && segment.is_lost() {
                return Err(format!("{segment:?} is SACKed and lost"));
            }
        }
        let counted = (out, if sack { sacked } else { self.sacked }, lost);
        let kept = (self.out, self.sacked, self.lost);
        if counted != kept {
            return Err(format!("counted {counted:?}, kept {kept:?}"));
        }
        // As in the kernel, a resend that an undo left in flight is counted twice when a timeout sends it once more.
        if self.resent < resent {
            return Err(format!("{resent} resends in flight, kept {}", self.resent));
        }
        if self.out + self.resent < self.sacked + self.lost {
            return Err(format!("fewer than none in flight: {kept:?}"));
        }
        let mut listed = 0;
        let mut next = self.oldest();
        let mut last = 0;
        while let Some(index) = next {
            listed += 1;
            if self.segments[index].at < last {
                return Err("the list by time of sending is not in order".to_owned());
            }
            last = self.segments[index].at;
            next = self.next_sent(index);
        }
        let marked = self
            .segments
            .iter()
            .filter(|segment| segment.marks.any(Marks::LISTED));
        if marked.count() != listed {
            return Err("the list by time of sending has lost segments".to_owned());
        }
        Ok(())
    }
}

/// Packets that `len` bytes of payload make.
pub(super) fn packets(len: u32, mss: u32) -> u16 {
    u16::try_from(len.div_ceil(mss).max(1)).unwrap_or(u16::MAX)
}
