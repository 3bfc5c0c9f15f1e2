//! The round-trip times of an emulated sender, and what its timers proved of the constants that are added to them.

use std::collections::VecDeque;

use rexmit_tcp::estimator::{Rtt, WindowedMin};
use rexmit_tcp::recovery::constants::MIN_RTT_WINDOW;
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::minimum::Minimum;
use super::stack_clock::StackClock;

/// Round-trip times that are measured again once it is known where ticks begin.
const UNSURE: usize = 48;

/// A round-trip time as it was seen: sent, acknowledged, and what was out then.
pub(super) type RoundTrip = (Time, Time, SeqNum, SeqNum);

/// Round-trip times.
#[derive(Debug)]
pub(super) struct RoundTrips {
    pub rtt: Rtt,
    sampled: bool,
    /// The smallest of late, by microseconds.
    least: WindowedMin,
    /// The segment that is timed by stacks that time one a round trip, and when it left.
    pub timed: Option<(SeqNum, Time)>,
    /// Those that were taken while the clock was not known.
    unsure: VecDeque<RoundTrip>,
    /// How much longer its timeouts proved to be than the page says.
    pub bias: Duration,
    pub minimum: Minimum,
}

impl RoundTrips {
    /// `unsure` is an empty collection to keep times in.
    pub fn new(settings: &Settings, other_minimum: bool, unsure: VecDeque<RoundTrip>) -> Self {
        RoundTrips {
            rtt: Rtt::new(settings),
            sampled: false,
            least: WindowedMin::new(MIN_RTT_WINDOW.as_nanos() / 1_000, 0),
            timed: None,
            unsure,
            bias: Duration::ZERO,
            minimum: Minimum::of(settings.timers.estimator, other_minimum),
        }
    }

    /// Its collection, empty.
    pub fn leave(mut self) -> VecDeque<RoundTrip> {
        self.unsure.clear();
        self.unsure
    }

    /// Takes a round-trip time as it was seen.
    pub fn take(&mut self, clock: &StackClock, seen: RoundTrip) {
        if clock.is_unsure() {
            if self.unsure.len() == UNSURE {
                self.unsure.pop_front();
            }
            self.unsure.push_back(seen);
        }
        let (sent, acked, una, nxt) = seen;
        self.rtt.sample(clock.measured(sent, acked), una, nxt);
        self.sampled = true;
    }

    /// What was measured before is measured again by what is now known of the clock.
    pub fn measure_again(&mut self, settings: &Settings, clock: &StackClock) {
        self.rtt = self.measured_by(settings, clock);
    }

    /// What would have been measured by this clock.
    pub fn measured_by(&self, settings: &Settings, clock: &StackClock) -> Rtt {
        let mut rtt = if self.unsure.len() == UNSURE || self.sampled {
            // The first of them were forgotten: they count for little by now.
            let mut rtt = Rtt::new(settings);
            rtt.no_sample_after_handshake();
            if let Minimum::Other(least) = self.minimum {
                rtt.set_minimum(least);
            }
            rtt
        } else {
            self.rtt.clone()
        };
        for (sent, acked, una, nxt) in &self.unsure {
            rtt.sample(clock.measured(*sent, *acked), *una, *nxt);
        }
        rtt
    }

    /// Nothing more is learned of the clock.
    pub fn forget_unsure(&mut self) {
        self.unsure.clear();
    }

    /// Takes a round-trip time for the smallest.
    pub fn take_path(&mut self, now: Time, rtt: Duration) {
        let micros = u32::try_from(rtt.as_nanos() / 1_000).unwrap_or(u32::MAX);
        self.least
            .take((now.as_nanos() / 1_000) as i64, micros.max(1));
    }

    /// The smallest of late.
    pub fn least(&self) -> Option<Duration> {
        self.least.span()
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    const MILLI: fn(i64) -> Duration = Duration::from_millis;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn what_was_measured_in_ticks_is_measured_again() {
        let mut settings = stacks::page("linux-3.10").unwrap().settings;
        settings.timers.hz = 1_000;
        let mut clock = StackClock::new(&settings);
        let mut trips = RoundTrips::new(&settings, true, VecDeque::new());
        let seq = SeqNum::new;
        trips.take(&clock, (at(0), at(54), seq(0), seq(10)));
        assert_eq!(trips.rtt.srtt(), Some(MILLI(54)));
        let mut slow = settings.clone();
        slow.timers.hz = 50;
        assert!(clock.learn_rate(&settings, 50));
        trips.measure_again(&slow, &clock);
        assert_eq!(trips.rtt.srtt(), Some(MILLI(60)));
        trips.forget_unsure();
        assert!(trips.leave().is_empty());
    }
}
