//! What sets the timer to the timeout.

use rexmit_time::{Duration, Time};

use super::Sender;
use crate::recovery::rto::{self, Rearm};
use crate::recovery::Job;
use crate::settings::TimeoutLeft;

impl Sender {
    /// Runs the timer if it is due at `now` (`tcp_write_timer_handler`).
    pub fn on_deadline(&mut self, now: Time) {
        self.now = now;
        let clock = self.clock;
        match self.timing.timer.fire(&clock, now) {
            None => {}
            Some(Job::Reordering) => self.on_reordering_timer(),
            Some(Job::Probe) => self.send_probe(),
            Some(Job::EarlyRetransmit) => self.on_early_retransmit_timer(),
            Some(Job::Timeout) => {
                self.timing.timer.clear();
                self.on_timeout();
            }
            Some(Job::Persist) => {
                self.timing.timer.clear();
                self.on_persist_timer();
            }
        }
    }

    /// Sets the timer, at most to the longest timeout.
    pub(super) fn set_timer(&mut self, job: Job, wait: Duration) {
        let clock = self.clock;
        let ticks = clock.ticks_in(wait.min(self.settings.max_rto));
        self.timing.timer.set(&clock, self.now, job, ticks);
    }

    /// The timeout, a full one from now on (RFC 6298 §5.3), or what is left of that of the head if the timer was set for
    /// something else in between (`tcp_rearm_rto`).
    pub(super) fn rearm_timeout(&mut self) {
        let view = Rearm {
            packets_out: self.queue.out,
            timer: self.timing.timer.job(),
            rto: self.timing.rto,
            head_age: self.head_age(),
        };
        match rto::rearm(self.settings.timeout_left, &view) {
            Some(wait) => self.set_timer(Job::Timeout, wait),
            None => self.timing.timer.clear(),
        }
    }

    /// How long ago the head was last sent; none are out: no time at all.
    fn head_age(&self) -> Duration {
        match (self.queue.head(), self.settings.timeout_left) {
            (None, _) => Duration::ZERO,
            (Some(head), TimeoutLeft::Ticks) => {
                self.ticks_span(self.tick() - self.tick_of(head.at))
            }
            (Some(head), TimeoutLeft::Micros) => Duration::from_micros(self.since(head.at)),
        }
    }

    /// How long until a timeout after the head was last sent (`tcp_rto_delta_us`).
    pub(super) fn timeout_left(&self) -> Duration {
        self.timing.rto - self.head_age()
    }

    /// After an acknowledgement made progress: a probe, else the timeout (`tcp_set_xmit_timer`).
    pub(super) fn set_timer_after_progress(&mut self) {
        if !self.schedule_probe(true) {
            self.rearm_timeout();
        }
    }
}
