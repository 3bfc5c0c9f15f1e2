//! What a sender has sent, piece by piece: each copy of it, and when it was acknowledged.

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use crate::search::partition_near;
use crate::window::HELD;

/// Stands for the number of a copy that is no retransmission: the first.
pub(super) const ORIGINAL: u32 = u32::MAX;

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
    /// The sequence numbers that its packet took; of an unseen copy, 0.
    pub span: u32,
    /// The retransmission's number, or [`ORIGINAL`].
    pub number: u32,
    /// Whether it came by the monitor.
    pub seen: bool,
    /// A SYN or FIN was on it, which is acknowledged at once.
    pub mark: bool,
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
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// First place.
    pub start: i64,
    /// Place after the last.
    pub end: i64,
    /// The first time it was sent.
    pub first: Copy,
    /// Every further time, in the order sent.
    pub again: Vec<Copy>,
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

impl Piece {
    /// All copies in the order sent.
    pub(super) fn copies(&self) -> impl DoubleEndedIterator<Item = &Copy> {
        core::iter::once(&self.first).chain(&self.again)
    }

    /// The newest copy.
    pub(super) fn last(&self) -> &Copy {
        self.again.last().unwrap_or(&self.first)
    }

    /// Whether it is a SYN.
    pub(super) const fn is_syn(&self) -> bool {
        self.start == 0 && self.first.mark
    }

    const fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// All pieces that matter yet, in the order of their places.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: VecDeque<Piece>,
    /// How many of them, from the front, are acknowledged cumulatively.
    edge: usize,
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
            pieces: recycled,
            edge: 0,
            una: 0,
            nxt: 0,
            segments: 0,
            mss: mss.max(1),
        }
    }

    /// Its collection.
    pub(super) fn leave(self) -> VecDeque<Piece> {
        self.pieces
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

    /// How many pieces are kept.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// All numbers up to `end`, which begin where the last piece ends.
    pub(super) fn push(&mut self, end: i64, first: Copy) {
        let piece = Piece {
            start: self.nxt,
            end,
            first,
            again: Vec::new(),
            covered: None,
            dsacks: 0,
            answered: 0,
            doubled: 0,
            overtaken: false,
            jumped: false,
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
                first,
                again: Vec::new(),
                covered: Some(covered),
                dsacks: 0,
                answered: 0,
                doubled: 0,
                overtaken: false,
                jumped: false,
            });
            self.edge += 1;
        }
    }

    /// The first place of which anything is kept.
    pub(super) fn bottom(&self) -> i64 {
        self.pieces.front().map_or(self.nxt, |p| p.start)
    }

    /// The first piece that ends above `place`, by its index.
    pub(super) fn index(&self, place: i64) -> usize {
        match self.pieces.back() {
            Some(last) if place < last.start => {
                // Most pieces are full segments.
                let guess = (place - self.bottom()).max(0) / i64::from(self.mss);
                partition_near(&self.pieces, guess as usize, |p| p.end <= place)
            }
            Some(last) if place < last.end => self.pieces.len() - 1,
            _ => self.pieces.len(),
        }
    }

    /// The piece that holds `place`.
    pub(super) fn at(&mut self, place: i64) -> Option<&mut Piece> {
        let i = self.index(place);
        self.pieces.get_mut(i).filter(|p| p.start <= place)
    }

    /// The pieces acknowledged cumulatively, oldest first.
    pub(super) fn acknowledged(&mut self) -> impl Iterator<Item = &mut Piece> {
        self.pieces.range_mut(..self.edge)
    }

    /// Makes `place` a boundary between pieces and gives the index of the piece that begins there or after.
    fn cut(&mut self, place: i64) -> usize {
        let i = self.index(place);
        match self.pieces.get_mut(i) {
            Some(piece) if piece.start < place => {
                let before = piece.len().div_ceil(self.mss);
                let mut rest = piece.clone();
                rest.start = place;
                piece.end = place;
                if i >= self.edge {
                    self.segments += piece.len().div_ceil(self.mss) + rest.len().div_ceil(self.mss);
                    self.segments -= before;
                } else {
                    self.edge += 1;
                }
                self.pieces.insert(i + 1, rest);
                i + 1
            }
            _ => i,
        }
    }

    /// The pieces of `start..end`, with boundaries at both.
    pub(super) fn within(
        &mut self,
        start: i64,
        end: i64,
    ) -> impl DoubleEndedIterator<Item = &mut Piece> {
        let from = self.cut(start);
        let to = self.cut(end);
        self.pieces.range_mut(from..to.max(from))
    }

    /// The pieces that share a place with `start..end`, as they are.
    pub(super) fn across(&self, start: i64, end: i64) -> impl DoubleEndedIterator<Item = &Piece> {
        let from = self.index(start);
        let to = if start < end {
            (self.index(end - 1) + 1).min(self.pieces.len())
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
        while self.edge > 0 && self.pieces.front().is_some_and(|p| !keep(p)) {
            self.pieces.pop_front();
            self.edge -= 1;
        }
    }
}
