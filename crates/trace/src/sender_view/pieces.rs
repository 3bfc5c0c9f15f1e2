//! What a sender has sent, piece by piece: each copy of it, and when it was acknowledged.

use core::ops::Range;
use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::{Flags, SeqNum};

use crate::event::Event;
use crate::pieces;
pub(super) use crate::pieces::MOST_PARTS;
use crate::sequence::Sequence;
use crate::window::HELD;

/// Stands for the number of a copy that is no retransmission: the first.
pub(super) const ORIGINAL: u32 = u32::MAX;

/// Pieces that are kept of what is not acknowledged; of more, nothing is known of the oldest any more.
const MOST_OUT: usize = 1 << 17;

/// Copies of a piece that are kept, the newest, besides the first: no stack sends more often. Of many pieces, fewer, and of
/// those that one packet takes so many together that each packet is held against few.
const MOST_COPIES: usize = 64;
const FEW_COPIES: usize = 4;
const MOST_OF_A_PACKET: usize = 512;

/// One time that bytes were sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Copy {
    /// When it came by the monitor; what never came by, when it was missed.
    pub at: Time,
    /// When the sender sent it, sender's clock.
    pub sent: Time,
    /// The sender's stamp; of an unseen copy, one that it cannot be newer than.
    pub stamp: Option<u32>,
    /// The acknowledgement number that it bore; of an unseen copy, none.
    pub ack: Option<SeqNum>,
    /// Its IP identification; of an unseen copy, that of the packet after it.
    pub ip_id: Option<u16>,
    /// The first place and the sequence numbers that its packet took; of an unseen copy, 0.
    pub from: i64,
    pub span: u32,
    /// What else its packet said; of an unseen copy, nothing.
    pub said: Said,
    /// The retransmission's number, or [`ORIGINAL`].
    pub number: u32,
    /// Whether it came by the monitor.
    pub seen: bool,
    /// A SYN or FIN was on it, which is acknowledged at once.
    pub mark: bool,
    /// A reset answered it: it arrived.
    pub reset: bool,
    /// A router returned it: it did not arrive.
    pub returned: bool,
}

impl Copy {
    /// The first copy, which never came by: it was missed at `at`, and left at `sent`, sender's clock.
    pub fn unseen(at: Time, sent: Time) -> Self {
        Copy {
            at,
            sent,
            stamp: None,
            ack: None,
            ip_id: None,
            from: 0,
            span: 0,
            said: Said::default(),
            number: ORIGINAL,
            seen: false,
            mark: false,
            reset: false,
            returned: false,
        }
    }

    /// Whether a packet is the same in all but its identification and what lies below TCP.
    pub fn is_repeated_by(&self, event: &Event) -> bool {
        let ack = event.flags.ack().then_some(event.ack);
        let stamp = event.timestamps.map(|t| t.0);
        self.seen
            && self.span == event.range().len()
            && (self.stamp, self.ack, self.said) == (stamp, ack, Said::by(event))
    }
}

/// What a packet said besides its numbers: a double says the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Said {
    flags: Flags,
    window: u16,
    echo: Option<u32>,
    sacks: u8,
}

impl Said {
    /// What a packet said.
    pub fn by(event: &Event) -> Self {
        Said {
            flags: event.flags,
            window: event.window,
            echo: event.timestamps.map(|(_, echo)| echo),
            sacks: event.sacks.1,
        }
    }

    /// What flags a packet had.
    pub const fn flags(&self) -> Flags {
        self.flags
    }

    /// Whether packets that were merged into one may have said this and that: all but where data were pushed.
    pub fn merges_with(&self, other: &Said) -> bool {
        let merged = |said: &Said| Said {
            flags: Flags(said.flags.0 & !(Flags::PSH.0 | Flags::FIN.0)),
            ..*said
        };
        merged(self) == merged(other)
    }
}

/// How a piece was acknowledged first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Covered {
    /// When the acknowledgement came by the monitor.
    pub at: Time,
    /// The stamp that it echoed.
    pub echo: Option<u32>,
    /// The piece began at the receiver's left edge, so that the echo is of the copy that arrived first (RFC 7323 §4.3).
    pub edge: bool,
    /// By a SACK block.
    pub sacked: bool,
    /// It reported a duplicate of the piece (RFC 2883), too.
    pub reported: bool,
    /// Packets of the receiver that the monitor missed right before.
    pub hidden: u32,
    /// The receiver's connection was over: it had got everything before, the FIN included.
    pub over: bool,
    /// It bore no data, and the receiver had nothing beyond it.
    pub bare: bool,
    /// It bore data.
    pub carried: bool,
}

/// Sequence numbers that were sent together, every time.
pub(super) type Piece = pieces::Piece<i64, Together>;

/// What is known of such.
#[derive(Clone, Debug)]
pub(super) struct Together {
    /// The first time it was sent.
    pub first: Copy,
    /// Every further time, in the order sent; of very many, the newest.
    pub again: Vec<Copy>,
    /// Further times that are forgotten.
    forgotten: u32,
    /// Its first acknowledgement.
    pub covered: Option<Covered>,
    /// How many duplicates of it the receiver reported (RFC 2883).
    pub dsacks: u8,
    /// How many answers to duplicates of it there were that did not say so.
    pub answered: u8,
    /// Copies that the network made of one packet, seen at the monitor.
    pub doubled: u8,
    /// When it was sent again first, the receiver had shown that something sent later had arrived.
    pub overtaken: bool,
    /// Its first acknowledgement was also the first of what filled a hole before it, or of later packets that nothing had
    /// shown to have arrived.
    pub jumped: bool,
}

impl Together {
    /// A piece that was sent once.
    fn once(first: Copy, covered: Option<Covered>) -> Self {
        Together {
            first,
            again: Vec::new(),
            forgotten: 0,
            covered,
            dsacks: 0,
            answered: 0,
            doubled: 0,
            overtaken: false,
            jumped: false,
        }
    }

    /// All copies in the order sent.
    pub(super) fn copies(&self) -> impl DoubleEndedIterator<Item = &Copy> {
        core::iter::once(&self.first).chain(&self.again)
    }

    /// The same, to be changed.
    pub(super) fn copies_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Copy> {
        core::iter::once(&mut self.first).chain(&mut self.again)
    }

    /// How often it was sent again.
    pub(super) fn times_again(&self) -> usize {
        self.forgotten as usize + self.again.len()
    }

    /// The newest copy.
    pub(super) fn last(&self) -> &Copy {
        self.again.last().unwrap_or(&self.first)
    }
}

impl Piece {
    /// Whether it is a SYN.
    pub(super) fn is_syn(&self) -> bool {
        self.start == 0 && self.first.mark
    }

    const fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// All pieces that matter yet, in the order of their places.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: Sequence<Piece>,
    /// How many of them, from the front, are acknowledged cumulatively.
    edge: usize,
    /// How many copies they have besides their first.
    copies: usize,
    /// Highest place acknowledged cumulatively.
    una: i64,
    /// Place after the highest sent.
    nxt: i64,
    /// Segments between the two.
    segments: u32,
    mss: u32,
}

impl Pieces {
    /// Nothing sent yet, and the first to be sent is place 0. Pieces go into `recycled`.
    pub(super) fn new(mss: u32, recycled: VecDeque<Piece>) -> Self {
        Pieces {
            pieces: Sequence::within(recycled),
            edge: 0,
            copies: 0,
            una: 0,
            nxt: 0,
            segments: 0,
            mss: mss.max(1),
        }
    }

    /// Its collection.
    pub(super) fn leave(self) -> VecDeque<Piece> {
        self.pieces.leave()
    }

    /// Highest place acknowledged cumulatively.
    pub(super) const fn una(&self) -> i64 {
        self.una
    }

    /// Place after the highest sent.
    pub(super) const fn nxt(&self) -> i64 {
        self.nxt
    }

    /// Segments sent and not acknowledged cumulatively.
    pub(super) const fn flight_segments(&self) -> u32 {
        self.segments
    }

    /// When the newest piece came by first, or was missed.
    pub(super) fn newest_at(&self) -> Option<Time> {
        Some(self.pieces.back()?.first.at)
    }

    /// How many pieces are kept.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The same with copies of them besides their first.
    pub(super) fn len_with_copies(&self) -> usize {
        self.pieces.len() + self.copies
    }

    /// All numbers up to `end`, which begin where the last piece ends.
    pub(super) fn push(&mut self, end: i64, first: Copy) {
        let piece = Piece {
            start: self.nxt,
            end,
            what: Together::once(first, None),
        };
        debug_assert!(self.nxt < end, "pieces are in order");
        self.segments += piece.len().div_ceil(self.mss);
        self.nxt = end;
        self.pieces.push_back(piece);
        let first = end - i64::from(HELD);
        if self.una < first {
            self.let_go(first);
        }
    }

    /// Everything below `una` has arrived, and nothing has acknowledged it.
    #[cold]
    fn let_go(&mut self, una: i64) {
        self.una = una;
        let to = self.cut(una);
        let gone = self.pieces.range(self.edge.min(to)..to);
        self.segments -= gone
            .map(|piece| piece.len().div_ceil(self.mss))
            .sum::<u32>();
        self.edge = self.edge.max(to);
    }

    /// Puts a piece that was sent and acknowledged before the first one kept in front of it.
    pub(super) fn push_front(&mut self, start: i64, first: Copy, covered: Covered) {
        let end = self.pieces.front().map_or(self.una, |p| p.start);
        if start < end {
            self.pieces.push_front(Piece {
                start,
                end,
                what: Together::once(first, Some(covered)),
            });
            self.edge += 1;
        }
    }

    /// The first place of which anything is kept.
    pub(super) fn bottom(&self) -> i64 {
        self.pieces.front().map_or(self.nxt, |p| p.start)
    }

    /// The piece that holds `place`.
    pub(super) fn at(&mut self, place: i64) -> Option<&mut Piece> {
        let i = self.pieces.find(place);
        self.pieces.get_mut(i).filter(|p| p.start <= place)
    }

    /// Makes `place` a boundary between pieces and gives the index of the piece that begins there or after.
    fn cut(&mut self, place: i64) -> usize {
        let (i, cut) = self.pieces.cut(place);
        if cut {
            let (first, rest) = (&self.pieces[i - 1], &self.pieces[i]);
            self.copies += rest.again.len();
            if i > self.edge {
                let segments = |len: u32| len.div_ceil(self.mss);
                self.segments += segments(first.len()) + segments(rest.len());
                self.segments -= segments(first.len() + rest.len());
            } else {
                self.edge += 1;
            }
        }
        i
    }

    /// The pieces of `start..end`, with boundaries at both.
    pub(super) fn within(
        &mut self,
        start: i64,
        end: i64,
    ) -> impl DoubleEndedIterator<Item = &mut Piece> {
        let cut = self.cut_out(start, end);
        self.pieces.range_mut(cut)
    }

    /// Makes both places boundaries and gives the indices of the pieces between.
    fn cut_out(&mut self, start: i64, end: i64) -> Range<usize> {
        let from = self.cut(start);
        let to = self.cut(end);
        from..to.max(from)
    }

    /// `start..end` was sent again. Calls `before` with each piece, as it was.
    pub(super) fn send_again(
        &mut self,
        (start, end): (i64, i64),
        copy: Copy,
        mut before: impl FnMut(&mut Piece),
    ) {
        let crowded = self.copies >= MOST_OUT;
        let (mut added, mut forgotten) = (0, 0);
        let Range { start: from, end } = self.cut_out(start, end);
        let parts = (end - from).min(MOST_PARTS);
        let most = if crowded {
            FEW_COPIES
        } else {
            (MOST_OF_A_PACKET / parts.max(1)).clamp(FEW_COPIES, MOST_COPIES)
        };
        for piece in self.pieces.range_mut(from..from + parts) {
            before(piece);
            let over = (piece.again.len() + 1).saturating_sub(most);
            piece.again.drain(..over);
            piece.forgotten += over as u32;
            piece.again.push(copy);
            forgotten += over;
            added += 1;
        }
        self.copies = self.copies + added - forgotten;
    }

    /// The pieces that share a place with `start..end`, as they are.
    pub(super) fn across(&self, start: i64, end: i64) -> impl DoubleEndedIterator<Item = &Piece> {
        let from = self.pieces.find(start);
        let to = if start < end {
            (self.pieces.find(end - 1) + 1).min(self.pieces.len())
        } else {
            from
        };
        self.pieces.range(from..to.max(from))
    }

    /// Everything below `una` is acknowledged. Calls `now` with each piece that was not before.
    pub(super) fn advance(&mut self, una: i64, covered: Covered, mut now: impl FnMut(&mut Piece)) {
        let edge = self.una;
        self.una = una;
        let to = self.cut(una);
        for i in self.edge..to {
            let piece = &mut self.pieces[i];
            self.segments -= piece.len().div_ceil(self.mss);
            if piece.covered.is_none() {
                piece.covered = Some(Covered {
                    edge: piece.start == edge,
                    bare: covered.bare && piece.end == una,
                    ..covered
                });
                now(piece);
            }
        }
        self.edge = self.edge.max(to);
    }

    /// Drops pieces from the front that are acknowledged and that `keep` does not want.
    pub(super) fn trim(&mut self, mut keep: impl FnMut(&Piece) -> bool) {
        let mut unwanted = |piece: &Piece| !keep(piece);
        while self.edge > 0 && self.pieces.front().is_some_and(&mut unwanted) {
            self.forget_first();
        }
        while self.pieces.len() > MOST_OUT {
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        let Some(piece) = self.pieces.pop_front() else {
            return;
        };
        self.copies -= piece.again.len();
        if self.edge > 0 {
            self.edge -= 1;
        } else {
            self.segments -= piece.len().div_ceil(self.mss);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(number: u32) -> Copy {
        Copy {
            at: Time::from_nanos(u64::from(number)),
            sent: Time::ZERO,
            stamp: None,
            ack: None,
            ip_id: None,
            from: 0,
            span: 1,
            said: Said::default(),
            number,
            seen: true,
            mark: false,
            reset: false,
            returned: false,
        }
    }

    fn pieces(count: i64) -> Pieces {
        let mut pieces = Pieces::new(1, VecDeque::new());
        (1..=count).for_each(|end| pieces.push(end, copy(ORIGINAL)));
        pieces
    }

    #[test]
    fn of_what_is_sent_again_without_an_end_the_newest_copies_are_kept() {
        let mut pieces = pieces(2);
        for number in 0..10_000 {
            pieces.send_again((0, 1), copy(number), |_| {});
        }
        let piece = pieces.at(0).expect("what was sent");
        assert_eq!(
            (piece.again.len(), piece.times_again()),
            (MOST_COPIES, 10_000)
        );
        assert_eq!((piece.first.number, piece.last().number), (ORIGINAL, 9_999));
        assert_eq!(pieces.copies, MOST_COPIES);
    }

    #[test]
    fn one_packet_is_held_against_few_pieces_and_all_have_few_copies() {
        let mut pieces = pieces(20_000);
        let mut looks = 0;
        for number in 0..20_000 {
            let start = i64::from(number) % 10_000;
            pieces.send_again((start, start + 10_000), copy(number), |_| looks += 1);
        }
        assert!(looks <= 20_000 * MOST_PARTS, "{looks}");
        assert!(pieces.copies < MOST_OUT * 2, "{}", pieces.copies);
        let kept: usize = pieces.pieces.range(0..20_000).map(|p| p.again.len()).sum();
        assert_eq!(kept, pieces.copies);
    }

    #[test]
    fn of_the_pieces_that_one_packet_takes_few_copies_are_kept_together() {
        let mut pieces = pieces(MOST_PARTS as i64);
        for number in 0..100 {
            pieces.send_again((0, MOST_PARTS as i64), copy(number), |_| {});
        }
        assert_eq!(pieces.copies, MOST_OF_A_PACKET);
        let piece = pieces.at(0).expect("what was sent");
        assert_eq!((piece.times_again(), piece.last().number), (100, 99));
    }

    #[test]
    fn of_more_than_can_be_out_the_oldest_is_forgotten() {
        let mut pieces = pieces(MOST_OUT as i64 + 10);
        pieces.trim(|_| true);
        assert_eq!((pieces.len(), pieces.bottom()), (MOST_OUT, 10));
        assert_eq!(pieces.flight_segments(), MOST_OUT as u32);
    }
}
