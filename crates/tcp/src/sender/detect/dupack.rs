//! Loss by duplicate acknowledgements without SACK (RFC 5681 §3.2, NewReno of RFC 6582).

use super::super::{Sender, State};

impl Sender {
    /// The head is lost at the third duplicate, and in recovery whenever an acknowledgement stops before its end
    /// (`tcp_newreno_mark_lost`).
    pub(in super::super) fn mark_lost_by_duplicates(&mut self, advanced: bool) {
        let third = self.state < State::Recovery && self.queue.sacked >= self.reordering;
        let partial = self.state == State::Recovery && advanced;
        let Some(head) = self.queue.head() else {
            return;
        };
        if !(third || partial) || head.is_lost() {
            return;
        }
        if head.packets > 1 && head.len() > self.mss {
            self.queue.split(0, self.mss, self.mss, self.sack);
        }
        self.queue.mark_lost(0);
    }
}
