//! The clock that a stack's timers run by: ticks, and when a timer asked for in ticks fires.

use rexmit_time::{Duration, Time};

use crate::words;

words! {
    /// How a kernel's timer list turns "expires at tick N" into the tick at which it fires.
    pub enum Wheel ("wheel") {
        /// At the tick asked for.
        Exact = "exact",
        /// `mod_timer` before Linux 4.8: a timer of 256 ticks or more may fire up to 1/256 later (`apply_slack`).
        Slack = "slack",
        /// Linux 4.8 and later: 63 ticks and less fire one tick late at most, longer ones by the granule of their
        /// level of the wheel, 8 ticks and so on by eights (`calc_wheel_index`).
        Levels = "levels",
    }
}

/// A tick, of which timers run whole ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick(i64);

impl Tick {
    /// No ticks: spans are not rounded.
    pub const CONTINUOUS: Tick = Tick(1);

    /// A tick of this length.
    #[must_use]
    pub const fn of_nanos(nanos: u64) -> Self {
        Tick(if nanos == 0 { 1 } else { nanos as i64 })
    }

    /// Whole ticks that last at least `span` (`usecs_to_jiffies`).
    #[must_use]
    pub fn up(self, span: Duration) -> Duration {
        let ticks = (span.as_nanos().max(0) + self.0 - 1) / self.0;
        Duration::from_nanos(ticks * self.0)
    }

    /// Whole ticks within `span`.
    #[must_use]
    pub fn down(self, span: Duration) -> Duration {
        Duration::from_nanos(span.as_nanos().max(0) / self.0 * self.0)
    }

    /// Whole ticks nearest to `span`, at least one.
    #[must_use]
    pub fn near(self, span: Duration) -> Duration {
        let ticks = (span.as_nanos().max(0) + self.0 / 2) / self.0;
        Duration::from_nanos(ticks.max(1) * self.0)
    }

    /// How long it is.
    #[must_use]
    pub const fn span(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

/// The ticks of a stack, wherever in time they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// Ticks a second (`HZ`).
    pub hz: u32,
    /// When timers fire.
    pub wheel: Wheel,
}

impl Ticks {
    /// Nanoseconds a tick.
    #[must_use]
    pub const fn tick_ns(self) -> u64 {
        1_000_000_000 / self.hz as u64
    }

    /// A tick.
    #[must_use]
    pub const fn tick(self) -> Tick {
        Tick::of_nanos(self.tick_ns())
    }

    /// Ticks that last at least `span` (`msecs_to_jiffies`, `usecs_to_jiffies`: rounded up).
    #[must_use]
    pub fn ticks_in(self, span: Duration) -> i64 {
        let tick = self.tick_ns() as i64;
        (span.as_nanos().max(0) + tick - 1) / tick
    }

    /// How long a timer of so many ticks runs, on average over when in a tick, and where on the wheel, it is set.
    #[must_use]
    pub fn mean_wait(self, ticks: i64) -> Duration {
        // Halves of a tick: a timer set within a tick expires at the beginning of one.
        let halves = match self.wheel {
            Wheel::Exact => 2 * ticks - 1,
            Wheel::Slack if ticks < 256 => 2 * ticks - 1,
            Wheel::Slack => 2 * ticks - 1 + ticks / 256,
            // One tick late at least, and a whole granule at most.
            Wheel::Levels => 2 * ticks + (1 << shift_of(ticks)),
        };
        Duration::from_nanos(halves.max(1) * self.tick_ns() as i64 / 2)
    }
}

/// A tick clock: ticks that are counted from `ticks_at_zero` at [`Time`] zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Its ticks.
    pub ticks: Ticks,
    /// The tick count at time zero. Linux starts at −300 s (`INITIAL_JIFFIES`), which decides where the granules of
    /// [`Wheel::Levels`] lie.
    pub ticks_at_zero: i64,
}

impl Clock {
    /// Linux's clock at this `HZ`.
    #[must_use]
    pub const fn linux(hz: u32, wheel: Wheel) -> Self {
        Clock {
            ticks: Ticks { hz, wheel },
            ticks_at_zero: -300 * hz as i64,
        }
    }

    /// Nanoseconds a tick.
    #[must_use]
    pub const fn tick_ns(&self) -> u64 {
        self.ticks.tick_ns()
    }

    /// A tick.
    #[must_use]
    pub const fn tick(&self) -> Tick {
        self.ticks.tick()
    }

    /// The tick count at `now`.
    #[must_use]
    pub fn ticks(&self, now: Time) -> i64 {
        (now.as_nanos() / self.tick_ns()) as i64 + self.ticks_at_zero
    }

    /// When tick `ticks` begins; time zero for those before it.
    #[must_use]
    pub fn time_of(&self, ticks: i64) -> Time {
        let since = u64::try_from(ticks - self.ticks_at_zero).unwrap_or(0);
        Time::from_nanos(since * self.tick_ns())
    }

    /// Ticks that last at least `span` (`msecs_to_jiffies`, `usecs_to_jiffies`: rounded up).
    #[must_use]
    pub fn ticks_in(&self, span: Duration) -> i64 {
        self.ticks.ticks_in(span)
    }

    /// When a timer fires that is set at `now` to expire at tick `expires`.
    #[must_use]
    pub fn fires(&self, now: Time, expires: i64) -> Time {
        let current = self.ticks(now);
        self.fires_from(current, expires)
            .max(self.time_of(current + 1))
    }

    /// As [`Clock::fires`], with the wheel standing at tick `base`: in the tick in which a timer fired it stands at the
    /// next already (`forward_timer_base`).
    #[must_use]
    pub fn fires_from(&self, base: i64, expires: i64) -> Time {
        let tick = match self.ticks.wheel {
            Wheel::Exact => expires,
            Wheel::Slack => with_slack(base, expires),
            Wheel::Levels => on_levels(base, expires),
        };
        self.time_of(tick.max(base))
    }
}

/// A timer of the kernel (`struct timer_list`): the tick that it is set to, and when it fires.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelTimer {
    armed: Option<(i64, Time)>,
}

impl KernelTimer {
    /// Sets it to tick `expires`. If it is set to that tick already, it keeps its place on the wheel (`mod_timer`).
    pub fn set(&mut self, clock: &Clock, now: Time, expires: i64) {
        self.set_after(clock, now, None, expires);
    }

    /// As [`KernelTimer::set`], where a timer fired last in the tick `fired`: in that tick the wheel stands at the next already
    /// ([`Clock::fires_from`]).
    pub fn set_after(&mut self, clock: &Clock, now: Time, fired: Option<i64>, expires: i64) {
        let keeps = |(set, fires)| set == expires && fires > now;
        if self.armed.is_some_and(keeps) {
            return;
        }
        let current = clock.ticks(now);
        let base = current + i64::from(fired == Some(current));
        let fires = clock.fires_from(base, expires);
        self.armed = Some((expires, fires.max(clock.time_of(current + 1))));
    }

    /// Stops it.
    pub fn stop(&mut self) {
        self.armed = None;
    }

    /// When it fires, if it runs.
    #[must_use]
    pub fn fires(&self) -> Option<Time> {
        self.armed.map(|(_, fires)| fires)
    }

    /// Whether it fires at `now`. It then runs no more.
    pub fn fire(&mut self, now: Time) -> bool {
        self.armed.take_if(|(_, fires)| *fires <= now).is_some()
    }
}

/// The last tick of the allowed 1/256 in which most low bits are zero.
fn with_slack(current: i64, expires: i64) -> i64 {
    let delta = expires - current;
    if delta < 256 {
        return expires;
    }
    let limit = expires + delta / 256;
    let differing = expires ^ limit;
    if differing == 0 {
        return expires;
    }
    let highest = 63 - differing.leading_zeros();
    // Across tick 0 the sign is the highest bit, and what is left is 0.
    limit & !(1_i64 << highest).wrapping_sub(1)
}

/// Eight levels, each with granules eight times those below it, of which a timer fires at the end of the granule in
/// which it expires.
fn on_levels(current: i64, expires: i64) -> i64 {
    let shift = shift_of(expires - current);
    ((expires >> shift) + 1) << shift
}

/// How large the granules are in which timers of `delta` ticks are kept, as a power of two.
#[must_use]
pub const fn shift_of(delta: i64) -> u32 {
    let mut shift = 0;
    // The first tick count that a level does not hold: 63 << 3 * level.
    while delta >= 63 << shift && shift < 21 {
        shift += 3;
    }
    shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_round_up_by_a_granule() {
        assert_eq!(on_levels(0, 50), 51);
        assert_eq!(on_levels(0, 63), 64);
        assert_eq!(on_levels(0, 64), 72);
        assert_eq!(on_levels(0, 503), 504);
        assert_eq!(on_levels(0, 504), 512);
    }

    #[test]
    fn timers_wait_for_so_long_on_average() {
        for wheel in [Wheel::Exact, Wheel::Slack, Wheel::Levels] {
            let clock = Clock::linux(250, wheel);
            for ticks in [1, 50, 62, 63, 100, 255, 300, 503, 504, 2000] {
                // The middle of every tick of many granules.
                let span = 4096;
                let waits = (0..span).map(|tick| {
                    let now = Time::from_nanos(tick * 4_000_000 + 2_000_000);
                    clock.fires(now, clock.ticks(now) + ticks) - now
                });
                let sum: i64 = waits.map(Duration::as_nanos).sum();
                let mean = sum as f64 / span as f64;
                let told = clock.ticks.mean_wait(ticks).as_nanos() as f64;
                // Slack is granted by powers of two, which its mean leaves out.
                let near = if wheel == Wheel::Slack { 8e6 } else { 1e3 };
                assert!(
                    (mean - told).abs() < near,
                    "{wheel:?} {ticks}: {mean} {told}"
                );
            }
        }
    }

    #[test]
    fn slack_clears_low_bits_up_to_one_part_in_256() {
        assert_eq!(with_slack(0, 255), 255);
        assert_eq!(with_slack(0, 300), 301);
        // From 1000 to the limit 1003 the highest bit that changes is the second.
        assert_eq!(with_slack(0, 1000), 1002);
        assert_eq!(with_slack(-1000, -1), 0);
    }

    #[test]
    fn spans_are_rounded_to_whole_ticks() {
        let (tick, micros) = (Tick::of_nanos(4_000_000), Duration::from_micros);
        assert_eq!(tick.up(micros(8_000)), micros(8_000));
        assert_eq!(tick.up(micros(8_001)), micros(12_000));
        assert_eq!(tick.up(micros(-1)), Duration::ZERO);
        assert_eq!(tick.down(micros(11_999)), micros(8_000));
        assert_eq!(tick.near(micros(5_999)), micros(4_000));
        assert_eq!(tick.near(micros(1)), micros(4_000));
        assert_eq!(Tick::CONTINUOUS.up(micros(7)), micros(7));
        assert_eq!(Tick::CONTINUOUS.down(micros(7)), micros(7));
    }

    #[test]
    fn a_timer_set_to_the_same_tick_keeps_its_place() {
        let clock = Clock::linux(1000, Wheel::Levels);
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let tick = |ms| clock.ticks(at(ms));
        let mut timer = KernelTimer::default();
        timer.set(&clock, at(0), tick(200));
        let fires = timer.fires();
        // Set anew to that tick it would stand among timers of one tick, and to another it does.
        timer.set(&clock, at(150), tick(200));
        assert_eq!(timer.fires(), fires);
        timer.set(&clock, at(150), tick(201));
        assert_eq!(timer.fires(), Some(at(202)));
        assert_eq!(
            [201, 202, 202].map(|ms| timer.fire(at(ms))),
            [false, true, false]
        );
        // What is over by now is set for the next tick.
        timer.set(&clock, at(300), tick(299));
        assert_eq!(timer.fires(), Some(at(301)));
        timer.stop();
        assert_eq!(timer.fires(), None);
    }

    #[test]
    fn ticks_begin_at_their_time() {
        let clock = Clock::linux(250, Wheel::Levels);
        let now = Time::from_nanos(4_000_000 * 7 + 5);
        assert_eq!(
            clock.time_of(clock.ticks(now)),
            Time::from_nanos(28_000_000)
        );
        assert_eq!(clock.ticks_in(Duration::from_millis(10)), 3);
    }
}
