//! What is answered at most twice a second.

use rexmit_time::Time;

use crate::clock::Clock;

/// The last answer to what a peer may send without end, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TwiceASecond {
    last: Option<i64>,
}

impl TwiceASecond {
    /// Whether it may be answered at `now`; it counts as answered then.
    pub fn allows(&mut self, clock: &Clock, now: Time) -> bool {
        let tick = clock.ticks(now);
        let half = i64::from(clock.ticks.hz) / 2;
        let allows = self.last.is_none_or(|last| tick - last >= half);
        if allows {
            self.last = Some(tick);
        }
        allows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Wheel;

    #[test]
    fn half_a_second_passes_between_answers() {
        let clock = Clock::linux(250, Wheel::Levels);
        let mut rate = TwiceASecond::default();
        let answered = [0, 499, 500, 999, 1_000]
            .map(|ms| rate.allows(&clock, Time::from_nanos(ms * 1_000_000)));
        assert_eq!(answered, [true, false, true, false, true]);
    }
}
