//! The time of the call that runs, in nanoseconds, microseconds, ticks and timestamps.

use rexmit_time::{Duration, Time};

use super::flight::Micros;
use crate::clock::Clock;

/// The time of the call that runs (`tcp_mstamp`), and the clock that it is read on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub clock: Clock,
    pub now: Time,
}

impl Moment {
    pub fn new(clock: Clock, now: Time) -> Self {
        Moment { clock, now }
    }

    /// The tick.
    pub fn tick(&self) -> i64 {
        self.clock.ticks(self.now)
    }

    /// The microsecond.
    pub fn micros(&self) -> Micros {
        self.now.as_nanos() / 1_000
    }

    /// Microseconds a tick.
    pub fn tick_micros(&self) -> i64 {
        (self.clock.tick_ns() / 1_000) as i64
    }

    /// The tick of a time of sending (`skb->when`).
    pub fn tick_of(&self, at: Micros) -> i64 {
        self.clock.ticks(Time::from_nanos(at * 1_000))
    }

    /// How long so many ticks are.
    pub fn ticks_span(&self, ticks: i64) -> Duration {
        Duration::from_nanos(ticks * self.clock.tick_ns() as i64)
    }

    /// Microseconds since `then`.
    pub fn since(&self, then: Micros) -> i64 {
        self.micros().saturating_sub(then) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Wheel;

    #[test]
    fn a_moment_is_the_same_in_each_of_its_units() {
        let clock = Clock::linux(250, Wheel::Levels);
        let now = Time::from_nanos(1_003_900_000);
        let ticks = Moment::new(clock, now);
        assert_eq!((ticks.micros(), ticks.tick_micros()), (1_003_900, 4_000));
        // 3.9 ms of a tick of 4 ms are over.
        assert_eq!(ticks.tick(), ticks.tick_of(1_000_000));
        assert_eq!(ticks.since(1_000_000), 3_900);
        assert_eq!(ticks.since(1_100_000), 0);
        assert_eq!(ticks.ticks_span(2), Duration::from_millis(8));
    }
}
