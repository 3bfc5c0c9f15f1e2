//! Early retransmit (RFC 5827, as Linux 3.5 to 4.10 had it): with few segments out, fewer duplicates are enough.

use super::super::Sender;
use crate::recovery::constants::EARLY_RETRANSMIT_MIN;
use crate::recovery::Job;
use crate::settings::{EarlyRetransmit, Estimator};
use crate::words::Mechanism;

impl Sender {
    /// Less than four segments are out, something arrived, nothing was sent again and no new data can be sent.
    pub(in super::super) fn may_retransmit_early(&self) -> bool {
        let (out, sacked) = (self.queue.out, self.queue.sacked);
        self.early_retransmit
            && self.queue.resent == 0
            && sacked > 0
            && out > sacked
            && out < 4
            && !self.may_send_now()
    }

    /// Sets the timer to a quarter of the round-trip time, in which reordered segments may still arrive. Whether it is set:
    /// not without a round-trip time, nor when the timer would fire before (`tcp_pause_early_retransmit`).
    pub(in super::super) fn wait_before_early_retransmit(&mut self) -> bool {
        let Some(srtt) = self.rtt.srtt() else {
            return false;
        };
        if self.settings.early_retransmit != EarlyRetransmit::Delayed {
            return false;
        }
        // srtt >> 5 of ticks, or of microseconds rounded up to ticks (since 3.15).
        let tick = self.clock.tick();
        let quarter = match self.settings.estimator {
            Estimator::LinuxMicros => tick.up(srtt / 4),
            _ => tick.down(srtt / 4),
        };
        let delay = quarter.max(tick.up(EARLY_RETRANSMIT_MIN));
        if self.ticks_span(self.timer.due() - self.tick()) <= delay {
            return false;
        }
        self.set_timer(Job::EarlyRetransmit, delay);
        true
    }

    /// The delay is over (`tcp_resume_early_retransmit`). The window is not reduced here, only the threshold.
    pub(in super::super) fn on_early_retransmit_timer(&mut self) {
        self.rearm_timeout();
        if !self.early_retransmit {
            return;
        }
        self.enter_recovery();
        self.undo.began_by = Mechanism::EarlyRetransmit;
        self.update_scoreboard_linux3(true);
        self.send_lost_linux3();
    }
}
