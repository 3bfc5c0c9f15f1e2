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
    /// The two as they would be without a minimum.
    free: (i64, i64),
    /// The window ends when this is acknowledged.
    rtt_seq: SeqNum,
}

/// The unit in nanoseconds in which a kernel with `settings` keeps its estimate.
pub(super) fn unit_ns(settings: &Settings) -> i64 {
    match settings.timers.estimator {
        Estimator::LinuxTicks => tick_ns(settings),
        _ => 1_000,
    }
}

/// The minimum in units: the kernel keeps it in ticks, whatever the estimator's unit (`icsk_rto_min`).
pub(super) fn minimum(settings: &Settings, min_rto: Duration) -> i64 {
    let tick_ns = tick_ns(settings);
    let ticks = (min_rto.as_nanos() + tick_ns - 1) / tick_ns;
    ticks * tick_ns / unit_ns(settings)
}

fn tick_ns(settings: &Settings) -> i64 {
    1_000_000_000 / i64::from(settings.timers.hz)
}

/// The mean and the deviation of a first sample, with the bits of fraction that their gains take.
pub(super) const fn first(measured: i64, srtt_shift: u32, rttvar_shift: u32) -> (i64, i64) {
    (measured << srtt_shift, (measured << rttvar_shift) / 2)
}

/// The mean and the deviation after a further sample.
#[inline]
pub(super) fn smooth(
    (srtt, mdev): (i64, i64),
    measured: i64,
    srtt_shift: u32,
    rttvar_shift: u32,
) -> (i64, i64) {
    let error = measured - (srtt >> srtt_shift);
    let mut change = error.abs() - (mdev >> rttvar_shift);
    // Round trips that shorten raise the deviation by both gains only, 1/32.
    if error < 0 && change > 0 {
        change >>= srtt_shift;
    }
    ((srtt + error).max(1), mdev + change)
}

/// A deviation as it enters the timeout.
#[inline]
pub(super) const fn term(mdev: i64, rttvar_shift: u32, rttvar_factor: i64) -> i64 {
    (mdev * rttvar_factor) >> rttvar_shift
}

/// What is left at the end of a window, whose largest deviation was `mdev_max`, of a term of `rttvar`.
#[inline]
pub(super) fn decayed(rttvar: i64, mdev_max: i64) -> i64 {
    rttvar - ((rttvar - mdev_max).max(0) >> 2)
}

/// The mean and the deviation's term together.
pub(super) fn timeout(srtt: i64, srtt_shift: u32, srtt_factor: f64, rttvar: i64) -> i64 {
    ((srtt >> srtt_shift) as f64 * srtt_factor) as i64 + rttvar
}

impl Linux {
    pub(super) fn new(settings: &Settings) -> Self {
        Linux {
            unit_ns: unit_ns(settings),
            min: minimum(settings, settings.timers.min_rto),
            srtt: 0,
            srtt_shift: settings.timers.srtt_shift,
            srtt_factor: settings.timers.srtt_factor,
            mdev: 0,
            rttvar_shift: settings.timers.rttvar_shift,
            rttvar_factor: i64::from(settings.timers.rttvar_factor),
            mdev_max: 0,
            rttvar: 0,
            free: (0, 0),
            rtt_seq: SeqNum::default(),
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration, una: SeqNum, nxt: SeqNum) {
        let measured = (rtt.as_nanos() / self.unit_ns).max(1);
        if self.srtt == 0 {
            (self.srtt, self.mdev) = first(measured, self.srtt_shift, self.rttvar_shift);
            let deviation = self.deviation();
            self.free = (deviation, deviation);
            self.rttvar = deviation.max(self.min);
            self.mdev_max = self.rttvar;
            self.rtt_seq = nxt;
            return;
        }
        (self.srtt, self.mdev) = smooth(
            (self.srtt, self.mdev),
            measured,
            self.srtt_shift,
            self.rttvar_shift,
        );
        let deviation = self.deviation();
        if deviation > self.mdev_max {
            self.mdev_max = deviation;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        let (peak, term) = self.free;
        self.free.0 = peak.max(deviation);
        self.free.1 = term.max(deviation);
        if una.is_after(self.rtt_seq) {
            self.rttvar = decayed(self.rttvar, self.mdev_max);
            self.free = (0, decayed(self.free.1, self.free.0));
            self.rtt_seq = nxt;
            self.mdev_max = self.min;
        }
    }

    /// Another minimum from now on, and where it had kept the timeout up.
    pub(super) fn set_minimum(&mut self, min: Duration) {
        self.min = min.as_nanos() / self.unit_ns;
        if self.srtt > 0 {
            self.mdev_max = self.free.0.max(self.min);
            self.rttvar = self.free.1.max(self.min);
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
            self.free = (mdev, mdev);
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
        self.span(timeout(
            self.srtt,
            self.srtt_shift,
            self.srtt_factor,
            self.rttvar,
        ))
    }

    /// The deviation as it enters the timeout.
    fn deviation(&self) -> i64 {
        term(self.mdev, self.rttvar_shift, self.rttvar_factor)
    }

    fn span(&self, units: i64) -> Duration {
        Duration::from_nanos(units * self.unit_ns)
    }
}
