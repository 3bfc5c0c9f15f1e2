//! Linux: `tcp_rtt_estimator` and `__tcp_set_rto`, in ticks until 3.14 and in microseconds since 3.15.

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use crate::settings::{Estimator, Settings};

/// Linux's estimator, integers in a unit of `unit_ns`, with the gains and factors of the settings: 1/8, 1/4, 1 and 4 in
/// every kernel.
///
/// It departs from RFC 6298 in three ways: the deviation grows slowly when round trips shorten; the timeout holds the
/// largest deviation of a window of data, which decays once a window; and the minimum bounds the deviation, not the
/// timeout, so that the timeout is never below the round-trip time and the minimum.
#[derive(Clone, Debug)]
pub struct Linux {
    unit_ns: i64,
    /// The minimum (`tcp_rto_min`).
    min: i64,
    /// The smoothed round-trip time with as many bits of fraction as its gain takes; zero before the first sample.
    srtt: i64,
    srtt_shift: u32,
    srtt_factor: f64,
    /// The mean deviation, likewise.
    mdev: i64,
    rttvar_shift: u32,
    rttvar_factor: i64,
    /// The largest deviation in this window of data as it enters the timeout, at least the minimum.
    mdev_max: i64,
    /// The deviation that enters the timeout.
    rttvar: i64,
    /// The window ends when this is acknowledged.
    rtt_seq: SeqNum,
}

impl Linux {
    pub(super) fn new(settings: &Settings) -> Self {
        let tick_ns = 1_000_000_000 / i64::from(settings.hz);
        let unit_ns = match settings.estimator {
            Estimator::LinuxTicks => tick_ns,
            _ => 1_000,
        };
        // The kernel keeps the minimum in ticks, whatever the estimator's unit (`icsk_rto_min`).
        let min_ticks = (settings.min_rto.as_nanos() + tick_ns - 1) / tick_ns;
        Linux {
            unit_ns,
            min: min_ticks * tick_ns / unit_ns,
            srtt: 0,
            srtt_shift: settings.srtt_shift,
            srtt_factor: settings.srtt_factor,
            mdev: 0,
            rttvar_shift: settings.rttvar_shift,
            rttvar_factor: i64::from(settings.rttvar_factor),
            mdev_max: 0,
            rttvar: 0,
            rtt_seq: SeqNum::default(),
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration, una: SeqNum, nxt: SeqNum) {
        let measured = (rtt.as_nanos() / self.unit_ns).max(1);
        if self.srtt == 0 {
            self.srtt = measured << self.srtt_shift;
            self.mdev = (measured << self.rttvar_shift) / 2;
            self.rttvar = self.deviation().max(self.min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = nxt;
            return;
        }
        let error = measured - (self.srtt >> self.srtt_shift);
        self.srtt = (self.srtt + error).max(1);
        let mut change = error.abs() - (self.mdev >> self.rttvar_shift);
        // Round trips that shorten raise the deviation by both gains only, 1/32.
        if error < 0 && change > 0 {
            change >>= self.srtt_shift;
        }
        self.mdev += change;
        let deviation = self.deviation();
        if deviation > self.mdev_max {
            self.mdev_max = deviation;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if una.is_after(self.rtt_seq) {
            if self.mdev_max < self.rttvar {
                self.rttvar -= (self.rttvar - self.mdev_max) >> 2;
            }
            self.rtt_seq = nxt;
            self.mdev_max = self.min;
        }
    }

    pub(super) fn remembered(&self) -> (Duration, Duration) {
        (self.span(self.srtt), self.span(self.mdev))
    }

    pub(super) fn remind(&mut self, srtt8: Duration, mdev4: Duration, nxt: SeqNum) {
        let units = |span: Duration| (span.as_nanos() + self.unit_ns - 1) / self.unit_ns;
        let (srtt, mdev) = (units(srtt8), units(mdev4));
        if srtt > self.srtt {
            self.srtt = srtt;
            self.rtt_seq = nxt;
        }
        if mdev > self.mdev {
            self.mdev = mdev;
            self.rttvar = mdev.max(self.min);
            self.mdev_max = self.rttvar;
        }
    }

    pub(super) fn srtt(&self) -> Duration {
        self.span(self.srtt >> self.srtt_shift)
    }

    pub(super) fn srtt_us8(&self) -> u64 {
        (((self.srtt << 3) >> self.srtt_shift) * self.unit_ns / 1_000).unsigned_abs()
    }

    pub(super) fn rttvar(&self) -> Duration {
        self.span(self.rttvar)
    }

    pub(super) fn rto(&self) -> Duration {
        let mean = (self.srtt >> self.srtt_shift) as f64 * self.srtt_factor;
        self.span(mean as i64 + self.rttvar)
    }

    /// The deviation as it enters the timeout.
    fn deviation(&self) -> i64 {
        (self.mdev * self.rttvar_factor) >> self.rttvar_shift
    }

    fn span(&self, units: i64) -> Duration {
        Duration::from_nanos(units * self.unit_ns)
    }
}
