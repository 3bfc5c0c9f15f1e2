//! The one timer of the sending half, and what it is set for (`icsk_retransmit_timer`).

use rexmit_time::Time;

use crate::clock::{Clock, KernelTimer};
use crate::recovery::Job;

/// The timer. A job that is called off leaves the kernel's timer running; it then fires for nothing, or for a later job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    job: Option<Job>,
    /// The tick the job is due (`icsk_timeout`).
    due: i64,
    kernel: KernelTimer,
    /// The tick at which it fired last, or [`NEVER`]: the wheel stands one ahead for the rest of that tick (`base->clk`).
    fired: i64,
}

/// No tick.
const NEVER: i64 = i64::MIN;

impl Default for Timer {
    fn default() -> Self {
        Timer {
            job: None,
            due: 0,
            kernel: KernelTimer::default(),
            fired: NEVER,
        }
    }
}

impl Timer {
    /// What it is set for.
    pub fn job(&self) -> Option<Job> {
        self.job
    }

    /// The tick the job is due.
    pub fn due(&self) -> i64 {
        self.due
    }

    /// Sets it to `ticks` from now, in place of what it was set for (`inet_csk_reset_xmit_timer`).
    pub fn set(&mut self, clock: &Clock, now: Time, job: Job, ticks: i64) {
        self.job = Some(job);
        self.due = clock.ticks(now) + ticks;
        self.set_kernel(clock, now);
    }

    fn set_kernel(&mut self, clock: &Clock, now: Time) {
        let fired = (self.fired != NEVER).then_some(self.fired);
        self.kernel.set_after(clock, now, fired, self.due);
    }

    /// Nothing is to be done any more (`inet_csk_clear_xmit_timer`).
    pub fn clear(&mut self) {
        self.job = None;
    }

    /// When [`Timer::fire`] is due.
    pub fn deadline(&self) -> Option<Time> {
        self.job?;
        self.kernel.fires()
    }

    /// The job that is due at `now`, if one is. It stays set: some jobs look at it (`tcp_write_timer_handler`).
    pub fn fire(&mut self, clock: &Clock, now: Time) -> Option<Job> {
        if !self.kernel.fire(now) {
            return None;
        }
        self.fired = clock.ticks(now);
        let job = self.job?;
        if self.due > clock.ticks(now) {
            self.set_kernel(clock, now);
            return None;
        }
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Ticks, Wheel};

    const CLOCK: Clock = Clock {
        ticks: Ticks {
            hz: 1000,
            wheel: Wheel::Levels,
        },
        ticks_at_zero: 0,
    };

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_timer_set_to_the_same_tick_keeps_its_granule() {
        let mut timer = Timer::default();
        timer.set(&CLOCK, at(0), Job::Timeout, 200);
        assert_eq!(timer.deadline(), Some(at(208)));
        // A timer first set now would stand among those of one tick.
        timer.set(&CLOCK, at(150), Job::Probe, 50);
        assert_eq!(timer.deadline(), Some(at(208)));
        timer.set(&CLOCK, at(150), Job::Probe, 51);
        assert_eq!(timer.deadline(), Some(at(202)));
    }

    #[test]
    fn a_job_called_off_fires_for_nothing() {
        let mut timer = Timer::default();
        timer.set(&CLOCK, at(0), Job::Timeout, 20);
        timer.clear();
        assert_eq!(timer.deadline(), None);
        assert_eq!(timer.fire(&CLOCK, at(21)), None);
    }

    #[test]
    fn a_job_put_off_is_armed_again_when_the_timer_fires() {
        let mut timer = Timer::default();
        timer.set(&CLOCK, at(0), Job::Timeout, 300);
        assert_eq!(timer.deadline(), Some(at(304)));
        timer.set(&CLOCK, at(1), Job::Timeout, 301);
        // The same granule holds both.
        assert_eq!(timer.deadline(), Some(at(304)));
        assert_eq!(timer.fire(&CLOCK, at(303)), None);
        assert_eq!(timer.fire(&CLOCK, at(304)), Some(Job::Timeout));
        assert_eq!(timer.fire(&CLOCK, at(304)), None);
    }
}
