//! The timer of an emulated sender, and the timeout with its back-off.

use rexmit_tcp::recovery::{rto, Job};
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};

use super::StackClock;

/// The timer. The model's own (`sender/timer.rs` of the TCP crate) stands at a tick of a wheel, and says when it fires. Where the ticks
/// of this one begin is not known: it keeps the time and the span, and says between when and when it fires.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    job: Option<Job>,
    /// When it was set.
    pub armed: Time,
    /// For how long, in whole ticks.
    pub span: Duration,
}

impl Default for Timer {
    fn default() -> Self {
        Timer {
            job: None,
            armed: Time::ZERO,
            span: Duration::ZERO,
        }
    }
}

impl Timer {
    pub fn job(&self) -> Option<Job> {
        self.job
    }

    pub fn set(&mut self, now: Time, job: Job, span: Duration) {
        *self = Timer {
            job: Some(job),
            armed: now,
            span,
        };
    }

    pub fn clear(&mut self) {
        self.job = None;
    }

    /// Between when and when it fires.
    pub fn window(&self, clock: &StackClock) -> (Time, Time) {
        let (soon, late) = clock.fires_within(self.span);
        (self.armed + soon, self.armed + late)
    }

    /// The time it is due.
    pub fn due(&self) -> Time {
        self.armed + self.span
    }
}

/// The timer and the timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    pub timer: Timer,
    /// The timeout, back-off counted, in whole ticks (`icsk_rto`).
    pub rto: Duration,
    /// The timer should have fired and nothing was sent.
    pub missed: bool,
}

impl Timers {
    pub fn new(rto: Duration) -> Self {
        Timers {
            timer: Timer::default(),
            rto,
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
            slop: settings.timers.rto_slop,
            max: settings.timers.max_rto,
        };
        self.rto = growth.after(self.rto);
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    #[test]
    fn a_timeout_doubles_without_what_is_added_last() {
        let settings = stacks::page("freebsd-5").unwrap().settings;
        assert!(settings.timers.rto_slop > Duration::ZERO);
        let mut timers = Timers::new(settings.timers.rto_slop + Duration::from_millis(300));
        timers.back_off(&settings);
        let doubled = settings.timers.rto_slop + Duration::from_millis(600);
        assert_eq!(timers.rto, doubled);
        timers.set_to_timeout(Time::from_nanos(7));
        assert_eq!(timers.timer.due(), Time::from_nanos(7) + doubled);
    }
}
