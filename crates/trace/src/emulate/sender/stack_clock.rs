//! The clock of a sender, emulated or replayed under other settings: how long its ticks are, and where in time they begin, as far as that shows.

use rexmit_tcp::clock::{shift_of, Tick, Ticks, Wheel};
use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};

/// Ticks of this length and more show in a capture.
const COARSE: Duration = Duration::from_millis(10);

/// A stack's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackClock {
    pub ticks: Ticks,
    /// Round-trip times are counted in ticks.
    counts_ticks: bool,
    /// Where in time its ticks begin, once a timer showed it.
    phase: Option<i64>,
    /// How long they are is known.
    rate_known: bool,
    /// Where they begin may show.
    pub phased: bool,
}

impl StackClock {
    pub fn new(settings: &Settings) -> Self {
        let mut clock = StackClock {
            ticks: settings.timers.ticks(),
            counts_ticks: settings.timers.estimator.counts_ticks(),
            phase: None,
            rate_known: false,
            phased: false,
        };
        clock.phased = clock.is_coarse();
        clock
    }

    /// A tick.
    pub fn tick(&self) -> Tick {
        self.ticks.tick()
    }

    /// Ticks so long that when they begin shows in the times at which timers fire.
    fn is_coarse(&self) -> bool {
        self.tick().span() >= COARSE && self.ticks.wheel == Wheel::Exact
    }

    /// Nanoseconds from the beginning of a tick to `at`; of times after 2262, which clocks that lie write, any number.
    fn within(&self, at: Time, phase: i64) -> i64 {
        let from_first = (at.as_nanos() as i64).wrapping_sub(phase);
        from_first.rem_euclid(self.tick().span().as_nanos())
    }

    /// What the stack measures of a span.
    pub fn measured(&self, sent: Time, acked: Time) -> Duration {
        // Times that were estimated may lie the wrong way round.
        let rtt = (acked - sent).max(Duration::ZERO);
        match self.phase.filter(|_| self.counts_ticks) {
            Some(phase) => {
                let tick = self.tick().span().as_nanos();
                let ticks = self.within(sent, phase).saturating_add(rtt.as_nanos()) / tick;
                Duration::from_nanos(ticks * tick)
            }
            None => self.on_average(rtt),
        }
    }

    /// What it measures of so long a span wherever ticks begin, on average.
    pub fn on_average(&self, span: Duration) -> Duration {
        match self.counts_ticks {
            true => self.tick().down(span + self.tick().span() / 2),
            false => span.max(Duration::from_micros(1)),
        }
    }

    /// When a timer of so many ticks fires that is set at `set`, if it is known where ticks begin: it fires at the beginning of
    /// one.
    pub fn fires(&self, set: Time, ticks: i64) -> Option<Time> {
        let phase = self.phase?;
        let tick = self.tick().span().as_nanos();
        Some(set + Duration::from_nanos(ticks * tick - self.within(set, phase)))
    }

    /// The shortest and longest time after which a timer fires that was set to `span`, whole ticks, wherever they begin.
    pub fn fires_within(&self, span: Duration) -> (Duration, Duration) {
        let tick = self.tick().span();
        let ticks = span.as_nanos() / tick.as_nanos();
        let late = match self.ticks.wheel {
            // A minimum a little larger is a tick more where ticks are long.
            Wheel::Exact if tick >= COARSE * 5 => tick,
            Wheel::Exact => Duration::ZERO,
            Wheel::Slack if ticks < 256 => Duration::ZERO,
            Wheel::Slack => span / 256,
            Wheel::Levels => {
                // The granule of the level; the tick may be 1 ms or 4 ms.
                let granule = |tick: i64| {
                    // A minimum a little larger may stand a level higher.
                    let ticks = span.as_nanos() * 17 / 16 / tick;
                    tick << shift_of(ticks)
                };
                let ticks = [1_000_000, 4_000_000, tick.as_nanos()];
                Duration::from_nanos(ticks.map(granule).into_iter().max().unwrap_or(0))
            }
        };
        (span - tick, span + late)
    }

    /// Where ticks begin, or how long they are, may still become known.
    pub fn is_unsure(&self) -> bool {
        self.counts_ticks && (!self.rate_known || (self.phase.is_none() && self.phased))
    }

    /// A timer fired at `at`. Whether that tells where ticks begin, and nothing did before.
    pub fn learn_phase(&mut self, at: Time, slack: Duration) -> bool {
        let learns = self.may_learn_phase(slack);
        if learns {
            self.phase = Some((at.as_nanos() % self.ticks.tick_ns()) as i64);
        }
        learns
    }

    /// Whether a timer, seen so surely, would tell where ticks begin.
    pub fn may_learn_phase(&self, slack: Duration) -> bool {
        self.phase.is_none() && self.phased && slack * 4 <= self.tick().span()
    }

    /// Its ticks are others than the page's: where they begin is not known.
    pub fn forget_phase(&mut self) {
        self.phase = None;
        self.phased = false;
    }

    /// The stack of these settings was built with so many ticks a second. Whether that was not known and counts.
    pub fn learn_rate(&mut self, settings: &Settings, hz: u32) -> bool {
        if !self.counts_ticks || core::mem::replace(&mut self.rate_known, true) {
            return false;
        }
        if hz != settings.timers.hz {
            self.ticks.hz = hz.max(1);
            self.phased = self.is_coarse();
            self.phase = None;
        }
        true
    }

    /// How far a time lies from the nearest beginning of a tick, if that is known.
    pub fn off_phase(&self, at: Time) -> Option<Duration> {
        let phase = self.phase?;
        let tick = self.tick().span().as_nanos();
        let off = self.within(at, phase);
        Some(Duration::from_nanos(off.min(tick - off)))
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::stacks;

    use super::*;

    fn of(page: &str) -> (Settings, StackClock) {
        let settings = stacks::page(page).unwrap().settings;
        let clock = StackClock::new(&settings);
        (settings, clock)
    }

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_timer_tells_where_coarse_ticks_begin() {
        let (_, mut clock) = of("windows-xp");
        assert!(clock.is_unsure());
        let tick = clock.tick().span();
        assert!(!clock.learn_phase(at(30), tick), "too unsure");
        assert!(clock.learn_phase(at(30), Duration::ZERO));
        assert!(!clock.learn_phase(at(31), Duration::ZERO), "known");
        // A tick lies between.
        assert_eq!(clock.measured(at(29), at(31)), tick);
        assert_eq!(clock.measured(at(31), at(33)), Duration::ZERO);
        assert_eq!(clock.off_phase(at(33)), Some(Duration::from_millis(3)));
        assert_eq!(clock.fires(at(135), 2), Some(at(330)));
        assert_eq!(clock.fires(at(129), 1), Some(at(130)));
        clock.forget_phase();
        assert_eq!(clock.off_phase(at(33)), None);
        assert!(!clock.learn_phase(at(30), Duration::ZERO));
    }

    #[test]
    fn a_rate_is_learned_once_and_only_by_those_who_count_ticks() {
        let (settings, mut clock) = of("linux-3.10");
        assert!(clock.learn_rate(&settings, 100) && !clock.learn_rate(&settings, 250));
        assert_eq!(clock.tick().span(), Duration::from_millis(10));
        let (settings, mut clock) = of("linux-6.12");
        assert!(!clock.learn_rate(&settings, 100) && !clock.is_unsure());
        let least = Duration::from_micros(1);
        assert_eq!(clock.measured(at(5), at(4)), least);
    }
}
