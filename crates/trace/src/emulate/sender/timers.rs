//! What an emulated sender would have its timer set to: the timeout, its back-off, and the probe.

use rexmit_tcp::recovery::{rto, tlp, Job};
use rexmit_tcp::settings::{Settings, TimeoutLeft, Tlp};
use rexmit_time::{Duration, Time};

use super::EmulatedSender;
use crate::emulate::board::Board;
use crate::emulate::timer::Timer;

/// The timer and the timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub timer: Timer,
    /// The timeout, back-off counted, in whole ticks (`icsk_rto`).
    pub rto: Duration,
    /// Timeouts without progress (`icsk_retransmits`).
    pub timeouts: u32,
    /// The timer should have fired and nothing was sent.
    pub missed: bool,
}

impl Timers {
    pub fn new(rto: Duration) -> Self {
        Timers {
            timer: Timer::default(),
            rto,
            timeouts: 0,
            missed: false,
        }
    }

    /// Sets the timer to a full timeout.
    pub fn set_to_timeout(&mut self, now: Time) {
        self.timer.set(now, Job::Timeout, self.rto);
    }

    /// Doubles the timeout, but for what is added last. What was learned of it may have made it less than that.
    pub fn back_off(&mut self, settings: &Settings) {
        let growth = rto::BackOff {
            slop: settings.rto_slop,
            max: settings.max_rto,
        };
        self.rto = growth.after(self.rto);
    }
}

impl EmulatedSender {
    /// The timeout without back-off.
    pub(super) fn set_rto(&mut self) {
        let rto = self.trips.rtt.rto() + self.trips.bias;
        self.timers.rto = self.clock.ticks.up(rto);
    }

    /// Between when and when the timer fires.
    pub(super) fn timer_window(&self) -> (Time, Time) {
        self.timers.timer.window(&self.clock.ticks)
    }

    /// Sets the timer to the timeout, in whole ticks.
    pub(super) fn rearm(&mut self, board: &Board, now: Time) {
        let Some(head) = board.head() else {
            self.timers.timer.clear();
            return;
        };
        let view = rto::Rearm {
            packets_out: board.out,
            timer: self.timers.timer.job(),
            rto: self.timers.rto,
            head_age: now - head.sent,
        };
        let span = match rto::rearm(self.settings.timeout_left, &view) {
            None => return self.timers.timer.clear(),
            Some(full) if full == self.timers.rto => full,
            Some(left) => match self.settings.timeout_left {
                // Where the ticks begin that the head's age is counted in is not seen.
                TimeoutLeft::Ticks => self.clock.ticks.near(left),
                TimeoutLeft::Micros => self.clock.ticks.up(left),
            },
        };
        let span = span.min(self.settings.max_rto);
        self.timers.timer.set(now, Job::Timeout, span);
    }

    /// Sets the timer to a probe if one may be sent before or instead of the timeout. Whether it is. Whether new data could
    /// go is not seen: if they can, they are about to.
    pub(super) fn schedule_probe(&mut self, board: &Board, now: Time, advancing: bool) -> bool {
        let (srtt, left) = match self.settings.tlp {
            Tlp::Off => return false,
            Tlp::Draft => {
                let left = self.timers.timer.due() - now;
                // In which part of its tick the timer was set is not seen.
                let whole = (left > Duration::ZERO).then(|| self.clock.ticks.near(left));
                (self.trips.rtt.srtt(), whole)
            }
            Tlp::Rfc8985 => {
                let left = match board.head() {
                    Some(head) if !advancing => self.timers.rto - (now - head.sent),
                    _ => self.timers.rto,
                };
                (self.trips.rtt.srtt_fraction(), Some(left))
            }
        };
        let view = tlp::Schedule {
            state: self.episode.state,
            sack: board.sack,
            timer: self.timers.timer.job(),
            new_data_can_go: false,
            wait: tlp::Wait {
                srtt,
                packets_out: board.out,
                min_rto: self.least(),
                initial_rto: self.settings.initial_rto,
                timeout_left: left,
            },
        };
        let wait = tlp::schedule(self.settings.tlp, &view, self.clock.ticks.length());
        if let Some(wait) = wait {
            let span = self.clock.ticks.up(wait);
            self.timers.timer.set(now, Job::Probe, span);
        }
        wait.is_some()
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    #[test]
    fn a_timeout_doubles_without_what_is_added_last() {
        let settings = stacks::page("freebsd-5").unwrap().settings;
        assert!(settings.rto_slop > Duration::ZERO);
        let mut timers = Timers::new(settings.rto_slop + Duration::from_millis(300));
        timers.back_off(&settings);
        let doubled = settings.rto_slop + Duration::from_millis(600);
        assert_eq!(timers.rto, doubled);
        timers.set_to_timeout(Time::from_nanos(7));
        assert_eq!(timers.timer.due(), Time::from_nanos(7) + doubled);
    }
}
