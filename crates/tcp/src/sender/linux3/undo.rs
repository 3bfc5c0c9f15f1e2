//! Taking reductions back, as 3.10 does.

use super::super::Sender;
use crate::recovery::dupack;

impl Sender {
    /// A partial acknowledgement in recovery: was what arrived only late. Whether more is to be marked lost
    /// (`tcp_try_undo_partial`).
    pub(super) fn undo_partly_linux3(&mut self, acked: u32) -> bool {
        let failed =
            !self.sack || dupack::reach_is_far(self.fack_reach(), self.detection.threshold);
        if !self.may_undo() {
            return failed;
        }
        self.forget_stamp();
        let distance = self.fack_reach() + acked;
        self.note_reordering_of(distance);
        self.undo_window(false);
        false
    }
}
