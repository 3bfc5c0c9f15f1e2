//! The clock behind a sender's timestamps.

use rexmit_time::{Duration, Time};

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
/// How far two clocks go apart, at most, in parts of a million.
const DRIFT: i64 = 100;

/// When a packet was sent, by its stamp: the ticks of the sender's clock laid against the monitor's.
///
/// A packet that waited in a queue before the monitor comes by later than its stamp says. The least that any packet was
/// late is taken for no wait at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamps {
    first: Option<(u32, Time)>,
    tick: Option<i64>,
    /// Monitor's time of the first stamp's tick by the earliest packet, ns from `first`, and when that was seen.
    base: i64,
    seen: Time,
}

impl Stamps {
    /// A packet with stamp `value` came by at `at`.
    pub(super) fn learn(&mut self, value: u32, at: Time) {
        let Some((first, begun)) = self.first else {
            self.first = Some((value, at));
            self.seen = at;
            return;
        };
        let ticks = i64::from(value.wrapping_sub(first) as i32);
        let passed = (at - begun).as_nanos();
        if ticks >= ENOUGH && passed > 0 && (self.tick.is_none() || ticks < 50 * ENOUGH) {
            let measured = passed / ticks;
            let tick = TICKS
                .into_iter()
                .find(|t| (measured - t).abs() * 8 < *t)
                .or(self.tick);
            if tick != self.tick {
                self.tick = tick;
                self.base = 0;
            }
        }
        if let Some(tick) = self.tick {
            let drift = (at - self.seen).as_nanos().max(0) / 1_000_000 * DRIFT;
            let late = passed - ticks * tick;
            self.base = (self.base + drift).min(late);
            self.seen = at;
        }
    }

    /// The tick's length, once known.
    pub(super) fn tick(&self) -> Option<Duration> {
        self.tick.map(Duration::from_nanos)
    }

    /// When a packet that came by at `at` would have come by had it not waited: no earlier than the tick of its stamp,
    /// and no later than the next one.
    pub(super) fn sent(&self, value: u32, at: Time) -> Time {
        let (Some((first, begun)), Some(tick)) = (self.first, self.tick) else {
            return at;
        };
        let ticks = i64::from(value.wrapping_sub(first) as i32);
        let next = begun + Duration::from_nanos(self.base + (ticks + 1) * tick);
        at.min(next)
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
                stamps.learn(start.wrapping_add(ms), at(f64::from(ms) + 0.3));
            }
            assert_eq!(stamps.tick(), Some(Duration::from_millis(1)));
            let on_time = at(200.7);
            assert_eq!(stamps.sent(start.wrapping_add(200), on_time), on_time);
            let late = stamps.sent(start.wrapping_add(300), at(350.0));
            assert!(late >= at(301.0) && late <= at(301.4), "{late}");
        }
    }

    #[test]
    fn slow_ticks_and_wandering_clocks_are_followed() {
        let mut stamps = Stamps::default();
        for i in 0..20_000_u32 {
            // The monitor's clock runs 50 parts in a million fast.
            let ms = f64::from(i) * 10.0 * 1.00005;
            stamps.learn(i, at(ms));
        }
        assert_eq!(stamps.tick(), Some(Duration::from_millis(10)));
        let on_time = at(20_000.0 * 10.0 * 1.00005);
        assert_eq!(stamps.sent(20_000, on_time), on_time);
    }
}
