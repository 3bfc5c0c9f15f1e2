//! Loss by counting: SACKed segments above (RFC 6675 §4 IsLost), or with FACK all segments below the highest SACK.

use rexmit_tcp::recovery::dupack::{self, Marks};
use rexmit_tcp::recovery::fack;
use rexmit_tcp::recovery::retransmit::{self, Forward};
use rexmit_tcp::settings::ReorderingUnit;
use rexmit_wire::SeqNum;

use super::EmulatedSender;
use crate::emulate::board::{Board, Piece};

impl EmulatedSender {
    /// The highest SACK is further above than reordering explains (`tcp_force_fast_retransmit`; before 4.18 in segments).
    pub(super) fn sack_is_far(&self, board: &Board) -> bool {
        if self.settings.reordering_unit == ReorderingUnit::Segments {
            return dupack::reach_is_far(self.reach(board), self.detection.threshold);
        }
        dupack::sack_is_far(
            board.una,
            board.highest,
            self.detection.threshold,
            board.mss,
        )
    }

    /// Segments up to the highest SACK.
    pub(super) fn reach(&self, board: &Board) -> u32 {
        fack::reach(board.sack, board.reach(), self.marks.duplicates)
    }

    /// Marks lost what duplicates or SACKs say (`tcp_update_scoreboard`).
    pub(super) fn mark_by_count(&mut self, board: &mut Board, begins: bool) {
        let fack = self.detection.fack.then(|| board.reach());
        match dupack::marks(
            board.sack,
            fack,
            board.sacked,
            self.detection.threshold,
            begins,
        ) {
            Marks::Nothing => {}
            Marks::Head => self.mark_head(board),
            Marks::First(most) | Marks::BelowSacked(most) => self.mark_from_head(board, most),
        }
    }

    fn mark_head(&mut self, board: &mut Board) {
        let unmarked = |head: &Piece| !head.sacked && self.marks.of(head) == 0;
        if board.head().is_some_and(unmarked) {
            self.marks.mark_lost(board, 0);
        }
    }

    /// Marks the first `most` segments; with plain SACK those with more SACKed ones above (`tcp_mark_head_lost`).
    fn mark_from_head(&mut self, board: &mut Board, most: u32) {
        let by_sack = board.sack && !self.detection.fack;
        // What is marked already, or SACKed, is only counted.
        let (first, mut count) = self.marks.first_unmarked(board, by_sack);
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
            if !piece.sacked && self.marks.of(&piece) == 0 {
                self.marks.mark_lost(board, index);
            }
            let sacked = by_sack.then_some(count);
            self.marks.all_marked_up_to(board, piece.end, sacked);
        }
    }

    /// Below the highest SACK, what is not marked lost may be sent again when no new data can be (RFC 6675 §4 NextSeg
    /// rule 3; `tcp_can_forward_retransmit`).
    pub(super) fn may_go_forward(&self, board: &Board, start: SeqNum) -> bool {
        let view = Forward {
            on: self.settings.forward_retransmit,
            state: self.episode.state,
            sack: board.sack,
            new_data_can_go: false,
        };
        retransmit::may_go_forward(&view) && start.is_before(board.highest)
    }
}
