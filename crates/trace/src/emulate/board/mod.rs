//! What was sent and not acknowledged: one scoreboard for all emulated senders. `acknowledge` takes acknowledgements in,
//! `report` is what one tells, `order` is the order of sending, and `looks` bounds what the senders look at.
//!
//! Pieces are found by their numbers, which have an order because all lie within one [window](crate::window): the sender view
//! tells of near numbers alone, and what would be more than is held is let go.

mod acknowledge;
mod looks;
mod order;
mod report;

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::{Intervals, SeqNum, SeqRange};

use super::profile::MOST_PROFILES;
use crate::event::{Sent, SentKind};
use crate::pieces::{self, MOST_PARTS};
use crate::sequence::Sequence;
use crate::window::{is_near, is_too_much, HELD};

use looks::Looks;
use order::Transmission;
pub use order::TransmitOrder;
pub use report::AckReport;

/// Pieces of the queue that are kept; what is sent beyond it pushes out the oldest.
const MOST_PIECES: usize = 1 << 16;

/// No sender's segments are smaller (`tcp_min_snd_mss` of Linux), whatever a peer asks for: counts of packets stay far below
/// what 32 bits hold.
const LEAST_MSS: u32 = 48;

/// More places than numbers of a board lie apart.
const BEYOND_ALL: i64 = 1 << 32;

/// Stamps whose time of sending is remembered.
const STAMPS: usize = 64;

/// What an emulated sender holds of a piece: lost.
pub const LOST: u8 = 1;
/// Sent again, and that retransmission in flight.
pub const RESENT: u8 = 2;

/// A segment in flight, or several that left as one.
pub type Piece = pieces::Piece<SeqNum, Held>;

/// What is known of such.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// When it was sent last.
    pub sent: Time,
    /// The stamp that it carried then.
    pub stamp: Option<u32>,
    /// Retransmissions so far.
    pub retransmissions: u8,
    pub packets: u32,
    pub sacked: bool,
    /// Payload-free: a bare FIN.
    pub bare: bool,
    /// It ends with a FIN.
    pub fin: bool,
    /// The monitor saw it when it was sent last.
    pub seen: bool,
    /// What had been sent when it was sent again last.
    pub nxt_then: SeqNum,
    /// Packets that had been delivered when it was sent last.
    delivered: u32,
    /// Each emulated sender's marks.
    pub marks: [u8; MOST_PROFILES],
}

/// The scoreboard.
#[derive(Debug)]
pub struct Board {
    pub una: SeqNum,
    pub nxt: SeqNum,
    pub mss: u32,
    pub sack: bool,
    pieces: Sequence<Piece>,
    /// What blocks have SACKed, by [places](Board::place): `una` is at this one.
    tagged: Intervals<i64>,
    una_place: i64,
    /// Pieces that were sent again.
    again: usize,
    /// Packets out.
    pub out: u32,
    /// Packets SACKed.
    pub sacked: u32,
    /// How often a piece that may be SACKed was let go of, or found to be more packets than were counted.
    pub recounted: u32,
    /// After the highest byte SACKed; the first byte not acknowledged without one.
    pub highest: SeqNum,
    /// Packets that begin below it.
    below_highest: u32,
    /// Its pieces in the order in which they were sent last.
    pub order: TransmitOrder,
    /// What the receiver offers, and the number that the packet bore which said so (`snd_wl1`).
    window: Option<(u32, SeqNum)>,
    /// Packets sent again so far (`total_retrans`), and packets that were reported to have come twice (`dsack_dups`).
    retransmitted: u32,
    reported: u32,
    /// Packets delivered (`tp->delivered`).
    delivered: u32,
    stamps: VecDeque<(u32, Time)>,
    looks: Looks,
}

/// The collections of a board, empty.
#[derive(Debug, Default)]
pub struct Recycled {
    pieces: VecDeque<Piece>,
    stamps: VecDeque<(u32, Time)>,
    order: VecDeque<Transmission>,
}

impl Board {
    pub fn new(mss: u32, sack: bool, recycled: Recycled) -> Self {
        Board {
            una: SeqNum::default(),
            nxt: SeqNum::default(),
            mss: mss.max(LEAST_MSS),
            sack,
            pieces: Sequence::within(recycled.pieces),
            tagged: Intervals::default(),
            una_place: 0,
            again: 0,
            out: 0,
            sacked: 0,
            recounted: 0,
            highest: SeqNum::default(),
            below_highest: 0,
            order: TransmitOrder::within(recycled.order),
            window: None,
            retransmitted: 0,
            reported: 0,
            // The SYN.
            delivered: 1,
            stamps: recycled.stamps,
            looks: Looks::default(),
        }
    }

    /// Its collections, of a capacity of `most` pieces at most.
    pub fn leave(mut self, most: usize) -> Recycled {
        let mut pieces = self.pieces.leave();
        pieces.shrink_to(most);
        self.stamps.clear();
        Recycled {
            pieces,
            stamps: self.stamps,
            order: self.order.leave(most),
        }
    }

    /// Nothing was sent before `first`.
    pub fn begin(&mut self, first: SeqNum) {
        self.una = first;
        self.nxt = first;
        self.highest = first;
    }

    /// What is out.
    pub fn range(&self) -> SeqRange {
        SeqRange {
            start: self.una,
            end: self.nxt,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// A number's place on a line that does not wrap. What was sent before the board [began anew](Board::begin_anew) lies below all
    /// that is on it.
    pub fn place(&self, seq: SeqNum) -> i64 {
        self.una_place + i64::from(seq.offset_from(self.una))
    }

    /// The number at a place that is on the board.
    pub fn seq(&self, place: i64) -> SeqNum {
        self.una + (place - self.una_place) as u32
    }

    /// Whether any piece was sent again.
    pub fn any_sent_again(&self) -> bool {
        self.again > 0
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn at(&self, index: usize) -> &Piece {
        &self.pieces[index]
    }

    pub fn get(&self, index: usize) -> Option<&Piece> {
        self.pieces.get(index)
    }

    /// How many packets these pieces are.
    pub fn packets(&self, pieces: &core::ops::Range<usize>) -> u32 {
        let pieces = self.pieces.range(pieces.clone());
        pieces.map(|piece| piece.packets).sum()
    }

    pub fn at_mut(&mut self, index: usize) -> &mut Piece {
        &mut self.pieces[index]
    }

    pub fn head(&self) -> Option<&Piece> {
        self.pieces.front()
    }

    pub fn tail(&self) -> Option<&Piece> {
        self.pieces.back()
    }

    /// All pieces, each of which [counts as looked at](Board::looked_at).
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().inspect(|_| self.looked_at(1))
    }

    /// As [`Board::pieces`].
    pub fn pieces_mut(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.looked_at(self.len());
        self.pieces.range_mut(0..self.pieces.len())
    }

    /// Packets from the first up to the highest SACK (`fackets_out`).
    pub fn reach(&self) -> u32 {
        if self.sacked == 0 {
            return 0;
        }
        self.below_highest
    }

    /// The packets below `seq`: of those that are SACKed, or of all up to the highest SACK.
    ///
    /// There are few pieces between `seq` and the highest SACK, as a rule, and many below `seq`.
    pub fn below(&self, seq: SeqNum, sacked: bool) -> u32 {
        let between = self.pieces.range(self.index(seq)..self.pieces.len());
        let between = between.take_while(|piece| piece.start.is_before(self.highest));
        let between = between.inspect(|_| self.looked_at(1));
        if sacked {
            let above = between.filter(|piece| piece.sacked);
            self.sacked - above.map(|piece| piece.packets).sum::<u32>()
        } else {
            self.below_highest - between.map(|piece| piece.packets).sum::<u32>()
        }
    }

    /// The highest SACK of this acknowledgement and those before it.
    pub fn reached(&self, report: &AckReport) -> SeqNum {
        match report.sacked.last() {
            Some(_) if self.highest.is_after(report.prior_highest) => self.highest,
            _ => report.prior_highest,
        }
    }

    fn note_stamp(&mut self, sent: &Sent) {
        let Some(stamp) = sent.stamp else { return };
        if self.stamps.back().is_none_or(|(last, _)| *last != stamp) {
            if self.stamps.len() == STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, sent.at));
        }
    }

    /// Options that a handshake does not show may take or leave some bytes of the segment size.
    fn packets_in(&self, len: u32) -> u32 {
        len.saturating_sub(40).div_ceil(self.mss).max(1)
    }

    /// Something new was sent.
    pub fn push(&mut self, sent: &Sent) {
        self.note_stamp(sent);
        if !is_near(sent.range.start, self.nxt) {
            self.begin_anew(sent.range.start);
        }
        let start = if sent.range.start.is_before(self.nxt) {
            self.nxt
        } else {
            sent.range.start
        };
        let end = sent.range.end;
        if !end.is_after(start) {
            return;
        }
        let fin = u32::from(sent.flags.fin());
        let len = end.offset_from(start).unsigned_abs();
        let packets = self.packets_in(len.saturating_sub(fin));
        self.order.push(sent.at, start, end);
        self.make_room();
        self.pieces.push_back(Piece {
            start,
            end,
            what: Held {
                sent: sent.at,
                stamp: sent.stamp,
                retransmissions: 0,
                packets,
                sacked: false,
                bare: len == fin,
                fin: fin > 0,
                seen: sent.kind != SentKind::Unseen,
                nxt_then: end,
                delivered: self.delivered,
                marks: [0; MOST_PROFILES],
            },
        });
        self.out += packets;
        self.nxt = end;
        if is_too_much(self.una, end) {
            self.let_go_below(end - HELD);
        }
    }

    /// What was sent begins somewhere else: the first that was told of had been sent long before.
    #[cold]
    fn begin_anew(&mut self, first: SeqNum) {
        self.pieces = Sequence::within(core::mem::take(&mut self.pieces).leave());
        self.tagged = Intervals::default();
        self.recounted = self.recounted.wrapping_add(1);
        (self.out, self.sacked, self.below_highest) = (0, 0, 0);
        self.again = 0;
        self.una_place += BEYOND_ALL;
        self.begin(first);
        self.trim_order();
    }

    /// Forgets the oldest piece, as if it had been acknowledged.
    #[cold]
    fn let_go_first(&mut self) -> Option<Piece> {
        let first = self.pieces.pop_front()?;
        self.recounted = self.recounted.wrapping_add(1);
        self.out -= first.packets;
        if first.start.is_before(self.highest) {
            self.below_highest -= first.packets;
        }
        self.sacked -= if first.sacked { first.packets } else { 0 };
        self.again -= usize::from(first.retransmissions > 0);
        Some(first)
    }

    /// Forgets all pieces below `una`.
    #[cold]
    fn let_go_below(&mut self, una: SeqNum) {
        for _ in 0..self.cut(una) {
            self.let_go_first();
        }
        self.acknowledged_to(una);
        if self.sacked == 0 || self.highest.is_before(una) {
            self.highest = una;
            self.below_highest = 0;
        }
        self.trim_order();
    }

    /// What was sent is kept from here on.
    fn acknowledged_to(&mut self, una: SeqNum) {
        self.una_place += i64::from(una.offset_from(self.una));
        self.una = una;
        self.tagged.forget_below(self.una_place);
    }

    /// Lets go of the oldest where there are too many for another.
    fn make_room(&mut self) {
        if self.pieces.len() < MOST_PIECES {
            return;
        }
        while self.pieces.len() >= MOST_PIECES {
            self.let_go_first();
        }
        self.trim_order();
    }

    /// The pieces of a range, cut where it begins and ends; of very many, the first; none of one that is not near.
    pub fn locate(&mut self, range: SeqRange) -> core::ops::Range<usize> {
        if !is_near(range.start, self.nxt) {
            return 0..0;
        }
        self.make_room();
        let from = self.cut(range.start);
        let to = self.cut(range.end);
        debug_assert!(from <= to, "{range:?} is in order");
        from..to.min(from + MOST_PARTS)
    }

    /// The index of the first piece that ends after `seq`.
    pub fn index(&self, seq: SeqNum) -> usize {
        self.pieces.find(seq)
    }

    /// The index of the first piece that begins at or after `seq`; a piece across it is cut.
    fn cut(&mut self, seq: SeqNum) -> usize {
        let (index, cut) = self.pieces.cut(seq);
        if cut {
            self.count_cut(index - 1);
        }
        index
    }

    /// The piece at `index` was cut, and what was behind the cut is the one after it.
    fn count_cut(&mut self, index: usize) {
        let Piece { start, end, what } = self.pieces[index];
        let first = self.packets_in(end.offset_from(start).unsigned_abs());
        let second = what.packets.saturating_sub(first).max(1);
        self.pieces[index].packets = first;
        self.pieces[index + 1].packets = second;
        let added = first + second - what.packets;
        self.out += added;
        if what.sacked {
            self.sacked += added;
            self.recounted = self.recounted.wrapping_add(1);
        }
        if end.is_before(self.highest) {
            self.below_highest += added;
        } else if start.is_before(self.highest) {
            // The cut may find more packets in the first part than were counted of both.
            self.below_highest = self.below_highest + first - what.packets;
        }
        self.again += usize::from(what.retransmissions > 0);
    }

    /// The range was sent again.
    pub fn retransmitted(&mut self, sent: &Sent, pieces: core::ops::Range<usize>) {
        self.note_stamp(sent);
        self.order.push(sent.at, sent.range.start, sent.range.end);
        let nxt = self.nxt;
        for piece in self.pieces.range_mut(pieces) {
            self.retransmitted = self.retransmitted.wrapping_add(piece.packets);
            self.again += usize::from(piece.retransmissions == 0);
            piece.sent = sent.at;
            piece.seen = true;
            piece.stamp = sent.stamp;
            piece.retransmissions = piece.retransmissions.saturating_add(1);
            piece.nxt_then = nxt;
            piece.delivered = self.delivered;
        }
    }
}

#[cfg(test)]
pub mod tests;
