//! The clock behind a sender's timestamps.

use rexmit_time::{Duration, Time};

use crate::event::Event;

/// Lengths of a tick that stacks use, ns: 1 µs (Linux since 6.7 on request), 1 ms, 512 and 500 a second, 4 ms, 10 ms,
/// 100 ms, 500 ms.
const TICKS: [i64; 8] = [
    1_000,
    1_000_000,
    1_953_125,
    2_000_000,
    4_000_000,
    10_000_000,
    100_000_000,
    500_000_000,
];
/// Ticks that must have passed before their length is told: one of them more or less is then a small part.
const ENOUGH: i64 = 20;
/// Ticks after which it may turn out to be another.
const MANY: i64 = 1_000;
/// How often a clock is looked at that need not be known to the packet.
const GLANCE: Duration = Duration::from_millis(10);
/// How far two clocks go apart, at most, in parts of a million.
const DRIFT: i64 = 100;

/// When a packet was sent, by its stamp: the ticks of the sender's clock laid against the monitor's.
///
/// A packet that waited in a queue before the monitor comes by later than its stamp says. The least that any packet was
/// late is taken for no wait at all, unless what the packets echo refutes it: a sender that paces may stamp a packet with
/// the time at which it is to leave, milliseconds after a monitor on the host has seen it (`tcp_wstamp_ns`, Linux since
/// 4.20).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamps {
    first: Option<(u32, Time)>,
    /// Which of the lengths it is.
    tick: Option<usize>,
    /// Before so many ticks from `first`, the least that one of them took by any packet, and whether it is known from fewer.
    within: (i64, i64, bool),
    /// Which length those before told.
    before: Option<usize>,
    /// For each length, the monitor's time of the first stamp's tick by the earliest packet, ns from `first`.
    base: [i64; TICKS.len()],
    /// The least that this time can be, as no packet leaves before what it echoes has come.
    floor: [Option<i64>; TICKS.len()],
    /// When a packet was seen last.
    seen: Time,
}

/// Which of the known lengths a tick has that takes about so long; none where it is none of them.
fn near(measured: i64) -> Option<usize> {
    let off = |tick: i64| (measured - tick).abs();
    let near = (0..TICKS.len()).min_by_key(|&at| off(TICKS[at]))?;
    (off(TICKS[near]) * 8 < TICKS[near]).then_some(near)
}

/// The length of a tick of which so many take that long; none where that is not known.
pub(super) fn tick_of(passed: i64, ticks: i64) -> Option<i64> {
    let tells = ticks >= ENOUGH && passed > 0;
    tells
        .then(|| near(passed / ticks))
        .flatten()
        .map(|at| TICKS[at])
}

impl Stamps {
    /// A packet with stamp `value` came by at `at`; what it echoes had come by at `heard`, if that is known.
    pub(crate) fn learn(&mut self, value: u32, at: Time, heard: Option<Time>) {
        let Some((first, begun)) = self.first else {
            self.first = Some((value, at));
            self.seen = at;
            return;
        };
        let ticks = i64::from(value.wrapping_sub(first) as i32);
        let passed = (at - begun).as_nanos();
        if ticks >= ENOUGH && passed > 0 {
            self.measure(ticks, passed / ticks);
        }
        let drift = (at - self.seen).as_nanos().max(0) / 1_000_000 * DRIFT;
        for (base, tick) in self.base.iter_mut().zip(TICKS) {
            *base = base
                .saturating_add(drift)
                .min(passed.saturating_sub(ticks.saturating_mul(tick)));
        }
        let heard = heard.map(|heard| (heard - begun).as_nanos());
        for (floor, tick) in self.floor.iter_mut().zip(TICKS) {
            let before = floor.map(|floor| floor.saturating_sub(drift));
            let least = heard.map(|at| at.saturating_sub((ticks + 1).saturating_mul(tick)));
            *floor = before.max(least);
        }
        self.seen = at;
    }

    /// Of `ticks` since the first packet each took `measured` by one that came by now. One that waited shows more, and the first one
    /// may have waited itself: so the least of all those between so many ticks and twice as many counts, and the longest time of
    /// that kind most.
    fn measure(&mut self, ticks: i64, measured: i64) {
        let (end, least, _) = self.within;
        if ticks >= end {
            self.within = (ticks.saturating_mul(2), measured, self.tick.is_some());
            // Slow start fills a queue twice as fast as that empties, so that ticks seem twice as long for a while.
            let length = near(least);
            let shorter = length.zip(self.tick).is_some_and(|(new, old)| new < old);
            if self.tick.is_none() || shorter || (length == self.before && ticks >= MANY) {
                self.tick = length.or(self.tick);
            }
            self.before = length;
        } else {
            self.within.1 = least.min(measured);
        }
        let (_, least, known) = self.within;
        if !known || self.tick.is_none() {
            self.tick = near(least).or(self.tick);
        }
    }

    /// The tick's length, once known.
    pub(super) fn tick(&self) -> Option<Duration> {
        self.tick.map(|tick| Duration::from_nanos(TICKS[tick]))
    }

    /// When a packet was sent, sender's clock.
    pub(super) fn sent_at(&self, event: &Event) -> Time {
        match event.timestamps {
            Some((value, _)) => self.sent(value, event.at),
            None => event.at,
        }
    }

    /// When a packet that came by at `at` would have come by had it not waited: no earlier than the tick of its stamp,
    /// and no later than the next one.
    pub(crate) fn sent(&self, value: u32, at: Time) -> Time {
        let (Some((first, begun)), Some(tick)) = (self.first, self.tick) else {
            return at;
        };
        let ticks = i64::from(value.wrapping_sub(first) as i32);
        let base = self.base[tick].max(self.floor[tick].unwrap_or(i64::MIN));
        let next = begun + Duration::from_nanos(base + (ticks + 1) * TICKS[tick]);
        at.min(next)
    }

    /// As [`learn`](Stamps::learn), of a packet now and then: of many at a time one tells as much.
    #[inline]
    pub(crate) fn glance(&mut self, value: u32, at: Time) {
        if self.first.is_none() || at - self.seen >= GLANCE {
            self.learn(value, at, None);
        }
    }

    /// For how long a packet that came by at `at` had waited, at least; none where the clock is not known.
    pub(crate) fn late(&self, value: u32, at: Time) -> Option<Duration> {
        self.tick?;
        let drift = (at - self.seen).as_nanos().max(0) / 1_000_000 * DRIFT;
        let late = (at - self.sent(value, at)).as_nanos() - drift;
        Some(Duration::from_nanos(late.max(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: f64) -> Time {
        Time::from_nanos(1_000_000_000 + (ms * 1e6) as u64)
    }

    #[test]
    fn a_wait_before_the_monitor_is_taken_off() {
        for start in [5_u32, u32::MAX - 40, 0x7fff_ffff] {
            let mut stamps = Stamps::default();
            for ms in 0..100_u32 {
                stamps.learn(start.wrapping_add(ms), at(f64::from(ms) + 0.3), None);
            }
            assert_eq!(stamps.tick(), Some(Duration::from_millis(1)));
            let on_time = at(200.7);
            assert_eq!(stamps.sent(start.wrapping_add(200), on_time), on_time);
            let late = stamps.sent(start.wrapping_add(300), at(350.0));
            assert!(late >= at(301.0) && late <= at(301.4), "{late}");
        }
    }

    #[test]
    fn packets_before_the_tick_is_known_count() {
        let mut stamps = Stamps::default();
        stamps.learn(1000, at(100.0), None);
        stamps.learn(1001, at(1.0), None);
        // By this one the tick is known, and it waited for 100 ms.
        stamps.learn(2500, at(1600.0), None);
        assert_eq!(stamps.tick(), Some(Duration::from_millis(1)));
        let late = stamps.sent(2500, at(1600.0));
        assert!(late >= at(1500.0) && late <= at(1501.5), "{late}");
    }

    /// A flight of one stamp arrives packet by packet, and each acknowledgement lets two go: the sender's clock seems to go at half
    /// its rate.
    #[test]
    fn a_queue_that_slow_start_fills_makes_no_tick_longer() {
        let mut stamps = Stamps::default();
        stamps.learn(0, at(0.0), None);
        for arrival in 0..60_u32 {
            let came = 41.0 + 12.0 * f64::from(arrival);
            let stamp = 41
                + if arrival < 10 {
                    0
                } else {
                    42 + (arrival - 10) * 6
                };
            stamps.learn(stamp, at(came), None);
            assert_eq!(stamps.tick(), Some(Duration::from_millis(1)), "{arrival}");
        }
        let late = stamps.late(377, at(749.0)).expect("a clock");
        assert!((late.as_nanos() / 1_000_000 - 371).abs() <= 1, "{late:?}");
    }

    /// A queue empties in front of the monitor, at the start or later.
    #[test]
    fn packets_that_wait_make_no_tick_longer() {
        for start in [0, 30, 400, 900] {
            let mut stamps = Stamps::default();
            for ms in 0..3_000_u32 {
                let late = if (start..start + 100).contains(&ms) {
                    2 * ms
                } else {
                    ms
                };
                stamps.learn(7 + ms, at(f64::from(late) + 0.3), None);
            }
            assert_eq!(stamps.tick(), Some(Duration::from_millis(1)), "{start}");
            assert_eq!(stamps.sent(7 + 3_000, at(3_000.5)), at(3_000.5), "{start}");
        }
        // The first one waited.
        let mut stamps = Stamps::default();
        stamps.learn(7, at(90.0), None);
        (1..2_000_u32).for_each(|ms| stamps.learn(7 + ms, at(f64::from(ms.max(90)) + 0.3), None));
        assert_eq!(stamps.tick(), Some(Duration::from_millis(1)));
    }

    #[test]
    fn ticks_of_nearly_the_same_length_are_told_apart() {
        for (tick, number) in [(2.0, 3), (1.953_125, 2)] {
            let mut stamps = Stamps::default();
            (0..100_u32).for_each(|of| stamps.learn(of, at(f64::from(of) * tick), None));
            assert_eq!(stamps.tick().map(Duration::as_nanos), Some(TICKS[number]));
        }
    }

    #[test]
    fn slow_ticks_and_wandering_clocks_are_followed() {
        let mut stamps = Stamps::default();
        for i in 0..20_000_u32 {
            // The monitor's clock runs 50 parts in a million fast.
            let ms = f64::from(i) * 10.0 * 1.00005;
            stamps.learn(i, at(ms), None);
        }
        assert_eq!(stamps.tick(), Some(Duration::from_millis(10)));
        let on_time = at(20_000.0 * 10.0 * 1.00005);
        assert_eq!(stamps.sent(20_000, on_time), on_time);
    }

    /// Every third packet of a paced sender is stamped up to 8 ms ahead; each echoes what came 20 µs before it.
    #[test]
    fn stamps_ahead_of_time_make_no_packet_late() {
        let mut stamps = Stamps::default();
        let ahead = |ms: u32| if ms % 3 == 0 { ms % 9 } else { 0 };
        for ms in 0..200_u32 {
            let at = at(f64::from(ms) + 0.3);
            let heard = at - Duration::from_micros(20);
            stamps.learn(5 + ms + ahead(ms), at, Some(heard));
            assert!(at - stamps.sent(5 + ms + ahead(ms), at) < Duration::from_micros(400));
        }
        let waited = stamps.sent(5 + 300, at(350.0));
        assert!(waited <= at(301.4), "{waited}");
    }
}
