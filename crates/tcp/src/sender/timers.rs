//! What sets the timer to the timeout.

use rexmit_time::{Duration, Time};

use super::Sender;
use crate::recovery::Job;
use crate::settings::SenderForm;

impl Sender {
    /// Runs the timer if it is due at `now` (`tcp_write_timer_handler`).
    pub fn on_deadline(&mut self, now: Time) {
        self.now = now;
        let clock = self.clock;
        match self.timer.fire(&clock, now) {
            None => {}
            Some(Job::Reordering) => self.on_reordering_timer(),
            Some(Job::Probe) => self.send_probe(),
            Some(Job::EarlyRetransmit) => self.on_early_retransmit_timer(),
            Some(Job::Timeout) => {
                self.timer.clear();
                match self.settings.sender {
                    SenderForm::Linux3 => self.on_timeout_linux3(),
                    SenderForm::Linux6 => self.on_timeout(),
                }
            }
            Some(Job::Persist) => {
                self.timer.clear();
                self.on_persist_timer();
            }
        }
    }

    /// Sets the timer, at most to the longest timeout.
    pub(super) fn set_timer(&mut self, job: Job, wait: Duration) {
        let clock = self.clock;
        let ticks = clock.ticks_in(wait.min(self.settings.max_rto));
        self.timer.set(&clock, self.now, job, ticks);
    }

    /// The timeout, a full one from now on (RFC 6298 §5.3), or what is left of that of the head if the timer was set for
    /// something else in between (`tcp_rearm_rto`).
    pub(super) fn rearm_timeout(&mut self) {
        if self.queue.out == 0 {
            self.timer.clear();
            return;
        }
        let converts = matches!(
            self.timer.job(),
            Some(Job::Reordering | Job::Probe | Job::EarlyRetransmit)
        );
        let wait = match self.settings.sender {
            SenderForm::Linux3 if converts => self.timeout_left_linux3().unwrap_or(self.rto),
            SenderForm::Linux6 if converts => self.timeout_left().max(Duration::from_micros(1)),
            _ => self.rto,
        };
        self.set_timer(Job::Timeout, wait);
    }

    /// How long until a timeout after the head was last sent (`tcp_rto_delta_us`).
    pub(super) fn timeout_left(&self) -> Duration {
        match self.queue.head() {
            Some(head) => self.rto - Duration::from_micros(self.since(head.at)),
            None => self.rto,
        }
    }

    /// After an acknowledgement made progress: a probe, else the timeout (`tcp_set_xmit_timer`).
    pub(super) fn set_timer_after_progress(&mut self) {
        if !self.schedule_probe(true) {
            self.rearm_timeout();
        }
    }
}
