//! Early retransmit: what [`recovery::early_retransmit`](crate::recovery::early_retransmit) decides, carried out.

use super::super::Sender;
use crate::recovery::early_retransmit::{self, Pause, View};
use crate::recovery::Job;
use crate::settings::Estimator;
use crate::words::Mechanism;

impl Sender {
    /// Whether a recovery begins now by fewer duplicates than make a loss; else it may begin later by the timer.
    pub(in super::super) fn retransmits_early(&mut self, new_data_can_go: bool) -> bool {
        let view = View {
            rule: self.settings.early_retransmit,
            in_order: self.detection.early_retransmit,
            packets_out: self.queue.out,
            sacked_out: self.queue.sacked,
            retransmissions_out: self.queue.retransmissions_out,
            new_data_can_go,
        };
        if !early_retransmit::is_due(&view) {
            return false;
        }
        let pause = Pause {
            srtt: self.timing.rtt.srtt(),
            in_micros: self.settings.estimator == Estimator::LinuxMicros,
            timer_left: self.ticks_span(self.timing.timer.due() - self.tick()),
        };
        let rule = self.settings.early_retransmit;
        let Some(delay) = early_retransmit::pause(rule, &pause, self.clock.tick()) else {
            return true;
        };
        self.set_timer(Job::EarlyRetransmit, delay);
        false
    }

    /// The delay is over (`tcp_resume_early_retransmit`). The window is not reduced here, only the threshold.
    pub(in super::super) fn on_early_retransmit_timer(&mut self) {
        self.rearm_timeout();
        if !self.detection.early_retransmit {
            return;
        }
        self.enter_recovery();
        self.causes.began_by = Mechanism::EarlyRetransmit;
        self.update_scoreboard(true);
        self.send_lost();
    }
}
