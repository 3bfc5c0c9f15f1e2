//! The redundant scheduler: every subflow carries every segment that is not acknowledged yet, in order, as fast as its own
//! window lets it (`mptcp_redundant.c`, v0.92).

use super::pieces::Piece;
use super::scheduler::From;
use super::Meta;

impl Meta {
    /// The next segment of the first subflow, from the one after the last choice on, that has room and something to carry
    /// (`redundant_next_segment`).
    pub(super) fn next_copy(&mut self) -> Option<(Piece, From, usize)> {
        let count = self.subflows.len();
        for step in 0..count {
            let index = (self.schedule.turns + step) % count;
            let Some((piece, from)) = self.first_not_carried(index) else {
                continue;
            };
            if piece.end <= self.window_end && self.is_available(index, piece.len()) {
                self.schedule.turns = index + 1;
                return Some((piece, from, index));
            }
        }
        None
    }

    /// The first segment that is not acknowledged and that the subflow has not carried.
    fn first_not_carried(&mut self, index: usize) -> Option<(Piece, From)> {
        let not_carried = |piece: &Piece| piece.carried_by & (1 << index) == 0;
        let out = self.pieces.out().enumerate();
        let mut out = out.filter(|(_, piece)| not_carried(piece));
        if let Some((at, piece)) = out.next() {
            return Some((*piece, From::Out(at)));
        }
        drop(out);
        let unsent = self.pieces.unsent_mut().copied()?;
        Some((unsent, From::New))
    }
}
