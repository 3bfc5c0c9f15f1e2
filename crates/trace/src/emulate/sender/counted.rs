//! Loss by counting: SACKed segments above (RFC 6675 §4 IsLost), or with FACK all segments below the highest SACK.

use rexmit_tcp::recovery::dupack;
use rexmit_tcp::recovery::retransmit::{self, Forward};
use rexmit_wire::SeqNum;

use super::marks::Marks;
use super::EmulatedSender;
use crate::emulate::board::{Board, Piece};

impl Marks {
    /// Marks lost what counting says; `by_sack`, SACKed segments alone count.
    pub fn mark_counted(&mut self, board: &mut Board, marks: dupack::Marks, by_sack: bool) {
        use dupack::Marks::{BelowSacked, First, Head, Nothing};
        match marks {
            Nothing => {}
            Head => self.mark_head(board),
            First(most) | BelowSacked(most) => self.mark_from_head(board, most, by_sack),
        }
    }

    fn mark_head(&mut self, board: &mut Board) {
        let unmarked = |head: &Piece| !head.sacked && self.flags(head) == 0;
        if board.head().is_some_and(unmarked) {
            self.mark_lost(board, 0);
        }
    }

    /// Marks the first `most` segments; with plain SACK those with more SACKed ones above (`tcp_mark_head_lost`).
    fn mark_from_head(&mut self, board: &mut Board, most: u32, by_sack: bool) {
        // What is marked already, or SACKed, is only counted.
        let (first, mut count) = self.first_unmarked(board, by_sack);
        for index in first..board.len() {
            board.looked_at(1);
            let piece = *board.at(index);
            if !piece.start.is_before(board.highest) && index > 0 {
                break;
            }
            let passed = count;
            if !by_sack || piece.sacked {
                count += piece.packets;
            }
            if count > most && (by_sack || piece.sacked || passed >= most) {
                break;
            }
            if !piece.sacked && self.flags(&piece) == 0 {
                self.mark_lost(board, index);
            }
            let sacked = by_sack.then_some(count);
            self.all_marked_up_to(board, piece.end, sacked);
        }
    }
}

impl EmulatedSender {
    /// Below the highest SACK, what is not marked lost may be sent again when no new data can be (RFC 6675 §4 NextSeg
    /// rule 3; `tcp_can_forward_retransmit`).
    pub(super) fn may_go_forward(&self, board: &Board, start: SeqNum) -> bool {
        let view = Forward {
            on: self.settings.loss.forward_retransmit,
            state: self.episode.state,
            sack: board.sack,
            new_data_can_go: false,
        };
        retransmit::may_go_forward(&view) && start.is_before(board.highest)
    }
}
