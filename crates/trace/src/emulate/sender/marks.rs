//! What one emulated sender holds of the segments on the common board: which are lost, which were sent again and are still on
//! their way, and how many duplicates stand for segments that arrived.
//!
//! Both these and the model's flight (`sender/flight` of the TCP crate) answer the machine with [`Counts`]. The marks differ: several
//! senders mark one board here, a retransmission takes a mark of loss that the model keeps, and counts stop at zero, as not all
//! that was sent is seen.

use core::cell::Cell;

use rexmit_tcp::recovery::machine::Counts;
use rexmit_tcp::recovery::scoreboard::{Scoreboard, Segment};
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::overdue::Overdue;
use crate::emulate::board::{Board, Piece, LOST, RESENT};

/// One sender's marks on the board and their sums.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// The place of its marks in a piece.
    slot: usize,
    /// Packets deemed lost (`lost_out`).
    pub lost: u32,
    /// Retransmissions in flight (`retrans_out`).
    pub retransmitted: u32,
    /// Without SACK, duplicates (`sacked_out`).
    pub duplicates: u32,
    /// Every piece that ends here or before is marked or SACKed.
    marked_up_to: Option<SeqNum>,
    /// The packets of these that are SACKed, if they were counted, and [how often](Board::recounted) the board had been
    /// recounted then.
    sacked_below: Option<(u32, u32)>,
    /// No transmission before this one has anything that time may find lost, by RACK or a timeout.
    left_over: u64,
    overdue: Overdue,
}

impl Marks {
    pub fn new(slot: usize) -> Self {
        Marks {
            slot,
            lost: 0,
            retransmitted: 0,
            duplicates: 0,
            marked_up_to: None,
            sacked_below: None,
            left_over: 0,
            overdue: Overdue::default(),
        }
    }

    /// The first piece that is not known to be marked or SACKed, and the packets below: of those that are SACKed, or of all up
    /// to the highest SACK.
    pub fn first_unmarked(&self, board: &Board, sacked: bool) -> (usize, u32) {
        let Some(seq) = self.marked_up_to else {
            return (0, 0);
        };
        let known = self.sacked_below.filter(|_| sacked);
        let known = known.filter(|(_, recounted)| *recounted == board.recounted);
        let below = known.map_or_else(|| board.below(seq, sacked), |(below, _)| below);
        (board.index(seq), below)
    }

    /// All pieces up to here are marked or SACKed; so many packets of these are SACKed, if they were counted.
    pub fn all_marked_up_to(&mut self, board: &Board, seq: SeqNum, sacked: Option<u32>) {
        self.marked_up_to = Some(seq);
        self.sacked_below = sacked.map(|sacked| (sacked, board.recounted));
    }

    /// All before `una` is acknowledged.
    pub fn advanced(&mut self, una: SeqNum) {
        self.marked_up_to = self.marked_up_to.filter(|seq| seq.is_after(una));
    }

    /// Marks were taken back.
    fn taken_back(&mut self) {
        self.marked_up_to = None;
        self.overdue.look_at_all();
        self.look_at_all();
    }

    /// Marks were taken back, or set for another reason than a packet that leaves now.
    pub fn look_at_all(&mut self) {
        self.left_over = 0;
    }

    /// The marks of a piece.
    pub fn flags(&self, piece: &Piece) -> u8 {
        piece.marks[self.slot]
    }

    pub fn is_lost(&self, piece: &Piece) -> bool {
        self.flags(piece) & LOST != 0
    }

    pub fn is_retransmitted(&self, piece: &Piece) -> bool {
        self.flags(piece) & RESENT != 0
    }

    /// Takes it for lost, or its retransmission.
    pub fn mark_lost(&mut self, board: &mut Board, index: usize) {
        let piece = board.at_mut(index);
        if piece.sacked {
            return;
        }
        let marks = &mut piece.what.marks[self.slot];
        if *marks & RESENT != 0 {
            *marks &= !RESENT;
            self.retransmitted = self.retransmitted.saturating_sub(piece.what.packets);
        }
        if *marks & LOST == 0 {
            *marks |= LOST;
            self.lost += piece.packets;
        }
    }

    /// Takes all for lost that are not SACKed, and their retransmissions.
    fn mark_all_lost(&mut self, board: &mut Board) {
        for piece in board.pieces_mut().filter(|piece| !piece.sacked) {
            let marks = &mut piece.what.marks[self.slot];
            if *marks & LOST == 0 {
                self.lost += piece.what.packets;
            }
            if *marks & RESENT != 0 {
                self.retransmitted = self.retransmitted.saturating_sub(piece.what.packets);
            }
            *marks = LOST;
        }
    }

    /// It is sent again now, or was and the board is to [be looked at anew](Marks::look_at_all).
    pub fn mark_retransmitted(&mut self, board: &mut Board, index: usize) {
        let piece = board.at_mut(index);
        let marks = &mut piece.marks[self.slot];
        if *marks & RESENT == 0 {
            *marks |= RESENT;
            self.retransmitted += piece.packets;
        }
    }

    /// The pieces of this range, which may be marked, were sent again at `at`.
    pub fn sent_again(&mut self, board: &Board, pieces: &core::ops::Range<usize>, at: Time) {
        self.overdue.sent_again(board, pieces, at);
    }

    /// Takes for lost what is not marked, from the head up to the first that was not sent before `limit`.
    pub fn mark_overdue(&mut self, board: &mut Board, limit: Time) {
        let mut overdue = core::mem::take(&mut self.overdue);
        overdue.look(board, limit, |board, index| {
            if self.flags(board.at(index)) == 0 {
                self.mark_lost(board, index);
            }
        });
        self.overdue = overdue;
    }

    /// It is not lost after all.
    pub fn unmark_lost(&mut self, board: &mut Board, index: usize) {
        self.taken_back();
        let piece = board.at_mut(index);
        let marks = &mut piece.marks[self.slot];
        if *marks & LOST != 0 {
            *marks &= !LOST;
            self.lost = self.lost.saturating_sub(piece.packets);
        }
    }

    /// Nothing is lost.
    pub fn clear_lost(&mut self, board: &mut Board) {
        self.taken_back();
        for piece in board.pieces_mut() {
            piece.marks[self.slot] &= !LOST;
        }
        self.lost = 0;
    }

    /// A piece was taken off.
    pub fn take_off(&mut self, piece: &Piece) {
        self.uncount(piece);
        if let Some((below, _)) = self.sacked_below.as_mut().filter(|_| piece.sacked) {
            *below = below.saturating_sub(piece.packets);
        }
    }

    /// A piece was delivered: its marks no longer count.
    fn uncount(&mut self, piece: &Piece) {
        if self.is_lost(piece) {
            self.lost = self.lost.saturating_sub(piece.packets);
        }
        if self.is_retransmitted(piece) {
            self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
        }
    }

    /// A piece was SACKed.
    pub fn unmark(&mut self, board: &mut Board, index: usize) {
        let piece = board.at_mut(index);
        self.uncount(piece);
        piece.marks[self.slot] = 0;
        let is_below = self
            .marked_up_to
            .is_some_and(|seq| !piece.end.is_after(seq));
        if let Some((below, _)) = self.sacked_below.as_mut().filter(|_| is_below) {
            *below += piece.packets;
        }
    }

    /// Nothing is out.
    pub fn clear(&mut self) {
        self.lost = 0;
        self.retransmitted = 0;
    }

    /// SACKed packets; without SACK, duplicates.
    pub fn delivered_above(&self, board: &Board) -> u32 {
        if board.sack {
            board.sacked
        } else {
            self.duplicates
        }
    }

    /// Packets in flight.
    pub fn in_flight(&self, board: &Board) -> u32 {
        self.counts(board).in_flight()
    }

    /// How many packets are where.
    pub fn counts(&self, board: &Board) -> Counts {
        Counts {
            out: board.out,
            sacked: self.delivered_above(board),
            lost: self.lost,
            retransmissions: self.retransmitted,
        }
    }

    /// The board as this sender marks it.
    pub fn on<'a>(&'a mut self, board: &'a mut Board) -> Marked<'a> {
        Marked {
            next: Cell::new(self.left_over),
            at: Cell::new(self.left_over),
            left_over: Cell::new(None),
            seen: Cell::new(None),
            board,
            marks: self,
        }
    }
}

/// The board with the marks of one sender, by time: what was sent first comes first. Where some packets were told of after
/// others that were sent later, in the order of the sequence numbers.
pub(super) struct Marked<'a> {
    board: &'a mut Board,
    marks: &'a mut Marks,
    /// The transmission of the piece that is looked at, and that of the next.
    at: Cell<u64>,
    next: Cell<u64>,
    /// The first transmission of which a piece may be found lost another time; without that of the piece looked at, which may
    /// be marked now.
    left_over: Cell<Option<u64>>,
    seen: Cell<Option<u64>>,
}

impl Marked<'_> {
    /// Marks what is `lost`: that was sent before all that is not.
    pub fn mark_sent_before(&mut self, lost: impl Fn(Time) -> bool) {
        if lost(self.board.order.latest()) {
            self.marks.mark_all_lost(self.board);
            self.next.set(self.board.order.end());
            return;
        }
        let mut next = self.first_sent();
        while let Some(place) = next {
            next = self.next_sent(place);
            if lost(self.segment(place).sent) {
                self.mark_lost(place);
            } else if self.board.order.is_sorted() {
                break;
            }
        }
    }

    /// Nothing more is looked at, this time.
    pub fn end(self) {
        self.see(None);
        if self.board.order.is_sorted() {
            self.marks.left_over = self.left_over.get().unwrap_or(self.next.get());
        }
    }

    /// What was looked at before stays as it is; a piece that may be lost, of this transmission, is looked at now.
    fn see(&self, now: Option<u64>) {
        if let Some(number) = self.seen.replace(now) {
            let first = self.left_over.get().unwrap_or(number);
            self.left_over.set(Some(first));
        }
    }
}

impl Scoreboard for Marked<'_> {
    fn first_sent(&self) -> Option<usize> {
        if !self.board.order.is_sorted() {
            return (!self.board.is_empty()).then_some(0);
        }
        let (number, index) = self.board.transmission(self.next.get())?;
        self.next.set(number);
        Some(index)
    }

    fn next_sent(&self, place: usize) -> Option<usize> {
        if !self.board.order.is_sorted() {
            return (place + 1 < self.board.len()).then_some(place + 1);
        }
        let number = self.next.get();
        self.at.set(number);
        let same = self.board.sent_in(number, Some(place));
        if same.is_some() {
            return same;
        }
        self.next.set(number + 1);
        self.first_sent()
    }

    /// What follows one that was sent once was sent later still; by time, all but what was sent with it.
    fn rest_was_sent_later(&self, place: usize) -> bool {
        let piece = self.board.at(place);
        if !self.board.order.is_sorted() {
            return piece.retransmissions == 0;
        }
        let next = self.board.order.time(self.next.get());
        next.is_none_or(|next| next > piece.sent)
    }

    fn segment(&self, place: usize) -> Segment {
        self.board.looked_at(1);
        let piece = self.board.at(place);
        let segment = Segment {
            end: piece.end,
            sent: piece.sent,
            sacked: piece.sacked,
            lost: self.marks.is_lost(piece),
            retransmission_out: self.marks.is_retransmitted(piece),
        };
        let may_be_lost = !segment.sacked && (!segment.lost || segment.retransmission_out);
        self.see(may_be_lost.then_some(self.at.get()));
        segment
    }

    fn mark_lost(&mut self, place: usize) {
        self.marks.mark_lost(self.board, place);
        self.seen.set(None);
    }
}

#[cfg(test)]
mod tests;
