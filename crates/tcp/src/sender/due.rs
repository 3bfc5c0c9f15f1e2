//! What the timer does when it is due.

use rexmit_time::Time;

use super::write::go_on;
use super::Sender;
use crate::recovery::{machine, Job};

impl Sender {
    /// Runs the timer if it is due at `now` (`tcp_write_timer_handler`).
    pub fn on_deadline(&mut self, now: Time) {
        if self.timing.pace_is_due(now) {
            go_on(self);
        }
        match self.timing.fire(now) {
            None => {}
            Some(Job::Reordering) => machine::on_reordering_timer(self),
            Some(Job::Probe) => self.send_probe(),
            Some(Job::EarlyRetransmit) => machine::on_early_retransmit_timer(self),
            Some(Job::Timeout) => self.on_timeout(),
            Some(Job::Persist) => self.on_persist_timer(),
        }
    }
}
