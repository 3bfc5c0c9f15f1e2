//! A sender's clock: what it measures of round trips, and when its timers fire.

use rexmit_tcp::recovery::rto::BackOff;
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};

use crate::emulate::StackClock;

/// The clock of a sender of which the stack is known.
#[derive(Debug)]
pub(super) struct SenderClock {
    clock: StackClock,
    back_off: BackOff<i64>,
}

impl SenderClock {
    pub fn new(own: &Settings) -> Self {
        let ticks = own.timers.ticks();
        SenderClock {
            clock: StackClock::new(own),
            back_off: BackOff {
                slop: ticks.ticks_in(own.timers.rto_slop),
                max: ticks.ticks_in(own.timers.max_rto),
            },
        }
    }

    /// A timer fired at `at`, which may be off by `slack`: where ticks begin.
    pub fn fired(&mut self, at: Time, slack: Duration) {
        self.clock.learn_phase(at, slack);
    }

    /// The round trip that ended at `acked`, as the sender measures it.
    pub fn measured(&self, rtt: Duration, acked: Time) -> Duration {
        self.clock.measured(acked - rtt, acked)
    }

    /// A round trip of which it is not known when it ended, as the sender measures it on average.
    pub fn measured_on_average(&self, rtt: Duration) -> Duration {
        self.clock.on_average(rtt)
    }

    /// A tick.
    pub fn tick(&self) -> Duration {
        self.clock.tick().span()
    }

    /// Ticks that last at least so long.
    pub fn ticks_in(&self, span: Duration) -> i64 {
        self.clock.ticks.ticks_in(span)
    }

    /// A timeout in ticks that has backed off so often.
    pub fn doubled(&self, ticks: i64, doublings: u32) -> i64 {
        self.back_off.after_times(ticks, doublings)
    }

    /// How long a timer of so many ticks runs, on average over when it is set.
    pub fn mean_wait(&self, ticks: i64) -> Duration {
        self.clock.ticks.mean_wait(ticks)
    }

    /// When a timer of so many ticks fires that is set at `set`.
    pub fn fires(&self, set: Time, ticks: i64) -> Time {
        let exact = self.clock.fires(set, ticks);
        exact.unwrap_or_else(|| set + self.mean_wait(ticks))
    }
}
