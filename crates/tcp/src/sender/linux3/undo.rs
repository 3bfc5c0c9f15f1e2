//! Taking reductions back, as 3.10 does.

use super::super::Sender;

impl Sender {
    /// `tcp_undo_cwr`
    pub(in super::super) fn undo_reduction_linux3(&mut self, threshold_too: bool) {
        let window = &mut self.congestion.window;
        if self.episode.prior_ssthresh == 0 {
            window.cwnd = window.cwnd.max(window.ssthresh);
        } else {
            window.cwnd = self.congestion.control.undo_cwnd(window);
            if threshold_too {
                window.ssthresh = window.ssthresh.max(self.episode.prior_ssthresh);
            }
        }
        self.congestion.usage.stamp = self.tick();
        self.counters.undos += 1;
    }

    /// A partial acknowledgement in recovery: was what arrived only late. Whether more is to be marked lost
    /// (`tcp_try_undo_partial`).
    pub(super) fn undo_partly_linux3(&mut self, acked: u32) -> bool {
        let failed = !self.sack || self.fack_reach() > self.detection.threshold;
        if !self.may_undo() {
            return failed;
        }
        self.forget_stamp();
        let distance = self.fack_reach() + acked;
        self.note_reordering_of(distance);
        self.undo_reduction_linux3(false);
        false
    }
}
