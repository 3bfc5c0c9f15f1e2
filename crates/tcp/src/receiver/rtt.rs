//! The round-trip time as a receiver sees it, for the growth of its buffer (`rcv_rtt_est`).

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use crate::clock::Clock;

/// The clock that the estimate is kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Ticks (before 4.13).
    Ticks,
    /// Microseconds; a difference of zero milliseconds of the timestamps counts as one (to 6.6).
    Micros,
    /// Microseconds; a difference of zero gives no sample (since 6.7).
    MicrosLate,
}

/// The estimate.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    unit: Unit,
    clock: Clock,
    /// Eightfold; 0 before the first sample.
    estimate: u64,
    last_echo: Option<u32>,
    window: Option<(Time, SeqNum)>,
}

impl Rtt {
    pub fn new(unit: Unit, clock: Clock) -> Self {
        Rtt {
            unit,
            clock,
            estimate: 0,
            last_echo: None,
            window: None,
        }
    }

    /// Eightfold, in microseconds (ticks with [`Unit::Ticks`]); 0 if unknown.
    pub fn eightfold(&self) -> u64 {
        self.estimate
    }

    fn between(&self, from: Time, to: Time) -> u64 {
        match self.unit {
            Unit::Ticks => (self.clock.ticks(to) - self.clock.ticks(from)).max(0) as u64,
            _ => to.as_nanos() / 1000 - from.as_nanos() / 1000,
        }
    }

    /// Whether a round trip has passed since `began`; never before the first sample.
    pub fn has_passed(&self, began: Time, now: Time) -> bool {
        self.estimate > 0 && self.between(began, now) >= self.estimate >> 3
    }

    /// A sample; one that only bounds the time from above (`at_most`) lowers the estimate at once (`tcp_rcv_rtt_update`).
    fn sample(&mut self, sample: u64, at_most: bool) {
        let eight = sample << 3;
        if self.estimate == 0 {
            self.estimate = eight;
            return;
        }
        // Since 4.13 a smaller sample counts in full however it came about.
        if eight < self.estimate && (at_most || self.unit != Unit::Ticks) {
            self.estimate = eight;
        } else if !at_most {
            self.estimate = self.estimate - (self.estimate >> 3) + sample;
        }
    }

    /// Data came in order up to `next`: the time in which a window of them came (`tcp_rcv_rtt_measure`).
    pub fn on_data(&mut self, now: Time, next: SeqNum, window: u32) {
        if let Some((began, until)) = self.window {
            if next.is_before(until) {
                return;
            }
            self.sample(self.between(began, now).max(1), true);
        }
        self.window = Some((now, next + window));
    }

    /// A segment echoes our timestamp `echo`, now `clock`; only one with much data (`full`) gives a sample
    /// (`tcp_rcv_rtt_measure_ts`). Milliseconds, or ticks with [`Unit::Ticks`].
    pub fn on_echo(&mut self, clock: u32, echo: u32, full: bool) {
        if self.unit == Unit::Ticks {
            if echo != 0 && full {
                self.sample(u64::from(clock.wrapping_sub(echo)).max(1), false);
            }
            return;
        }
        if self.last_echo.replace(echo) == Some(echo) || !full {
            return;
        }
        let millis = clock.wrapping_sub(echo);
        if millis >= i32::MAX as u32 / 1000 {
            return;
        }
        match (millis, self.unit) {
            (0, Unit::MicrosLate) => {}
            (millis, _) => self.sample(u64::from(millis.max(1)) * 1000, false),
        }
    }
}
