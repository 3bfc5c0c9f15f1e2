//! The redundant scheduler: every subflow carries every segment that is not acknowledged yet, in order, as fast as its own
//! window lets it (`mptcp_redundant.c`, v0.92).

use super::pieces::{DataPiece, Pieces};
use super::scheduler::{From, Scheduler};
use super::subflow::Subflow;

impl Scheduler {
    /// The next segment of the first subflow, from the one after the last choice on, that has room and something to carry
    /// within the peer's window (`redundant_next_segment`).
    pub fn next_copy(
        &mut self,
        subflows: &[Subflow],
        pieces: &Pieces,
        window_end: u64,
    ) -> Option<(DataPiece, From, usize)> {
        let count = subflows.len();
        for step in 0..count {
            let index = (self.turns + step) % count;
            let Some((piece, from)) = first_not_carried(pieces, index) else {
                continue;
            };
            if piece.end <= window_end && subflows[index].takes(piece.len()) {
                self.turns = index + 1;
                return Some((piece, from, index));
            }
        }
        None
    }
}

/// The first segment that is not acknowledged and that the subflow has not carried.
fn first_not_carried(pieces: &Pieces, index: usize) -> Option<(DataPiece, From)> {
    let mut out = pieces.out().enumerate();
    let not_carried = out.find(|(_, piece)| piece.carried_by & (1 << index) == 0);
    let unsent = || pieces.unsent().map(|piece| (*piece, From::New));
    not_carried
        .map(|(at, piece)| (*piece, From::Out(at)))
        .or_else(unsent)
}
