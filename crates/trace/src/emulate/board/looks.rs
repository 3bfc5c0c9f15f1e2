//! How many pieces the emulated senders may look at.
//!
//! Some of what a sender does looks at all that is out: a timeout, and what takes one back. Senders do so once in a while, but
//! packets can be made that have it done with each of them. So looks are counted. Each packet pays for some, and where more were
//! taken, the older half of the board is let go of, as what is older is where there are too many pieces.

use core::cell::Cell;

use super::{Board, Piece};

/// Looks that a packet pays for, of all senders together.
const A_PACKET: i64 = 1 << 10;

/// Looks that are there at first.
const AT_FIRST: i64 = 1 << 20;

/// So few pieces are never let go of.
const FEW: usize = 64;

/// Looks that are left.
#[derive(Debug)]
pub(super) struct Looks(Cell<i64>);

impl Default for Looks {
    fn default() -> Self {
        Looks(Cell::new(AT_FIRST))
    }
}

impl Board {
    /// So many pieces were looked at, in a walk that may pass all of them.
    pub fn looked_at(&self, pieces: usize) {
        let left = &self.looks.0;
        left.set(left.get() - pieces as i64);
    }

    /// A packet came, which pays for some looks. Whether too many were taken.
    pub fn pay_for_looks(&mut self) -> bool {
        let left = self.looks.0.get_mut();
        *left += A_PACKET;
        *left < 0 && self.pieces.len() > FEW
    }

    /// Lets go of the older half, and calls `gone` with each piece.
    #[cold]
    pub fn let_go_of_half(&mut self, mut gone: impl FnMut(&Piece)) {
        for _ in 0..self.pieces.len() / 2 {
            if let Some(piece) = self.let_go_first() {
                gone(&piece);
            }
        }
        self.trim_order();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, board_of};

    #[test]
    fn a_look_at_all_that_is_out_is_paid_for_now_and_then() {
        let mut board = board_of(20_000);
        for _ in 0..20_000 {
            assert!(!board.pay_for_looks());
        }
        for _ in 0..1_000 {
            board.looked_at(board.len());
            assert!(!board.pay_for_looks());
        }
    }

    #[test]
    fn of_a_board_that_costs_too_much_the_older_half_is_let_go_of_but_for_a_few() {
        let mut board = board_of(1_000);
        ack(&mut board, 0, 100..200, 0);
        board.looked_at(1 << 40);
        let mut gone = 0;
        while board.pay_for_looks() {
            board.let_go_of_half(|piece| gone += piece.packets);
        }
        assert_eq!((board.len(), board.out, board.sacked), (63, 63, 0));
        assert_eq!(gone, 937);
        assert_eq!(board.transmission(0).map(|(_, index)| index), Some(0));
    }
}
