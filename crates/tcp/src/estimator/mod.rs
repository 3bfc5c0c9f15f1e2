//! The round-trip time and the timeout that comes of it, one file an arithmetic.
//!
//! When a sample is taken is the sender's affair; here it is smoothed. Back-off too is the sender's: what
//! [`Rtt::rto`] gives has none.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::settings::{Estimator, Settings};

mod batch;
mod bsd;
mod linux;
mod rfc6298;
mod solaris;
#[cfg(test)]
mod tests;
mod windowed;

pub use batch::{Batch, Variant};
pub use bsd::Bsd;
pub use linux::Linux;
pub use rfc6298::{Form, Rfc6298};
pub use solaris::Solaris;
pub use windowed::{WindowedMax, WindowedMin};

/// A connection's estimate of its round-trip time.
#[derive(Clone, Debug)]
pub struct Rtt {
    filter: Filter,
    initial_rto: Duration,
    fallback_rto: Duration,
    max_rto: Duration,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Filter {
    Linux(Linux),
    Rfc6298(Rfc6298),
    Bsd(Bsd),
    Solaris(Solaris),
}

/// The longest sample: far beyond any timeout, and short enough for the fixed-point arithmetic of every stack.
const LONGEST: Duration = Duration::from_secs(3600);

/// A sample within bounds. Clocks of captures leap.
fn plausible(rtt: Duration) -> Duration {
    rtt.clamp(Duration::ZERO, LONGEST)
}

/// What the timeout rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Initial,
    Fallback,
    Sampled,
}

impl Estimator {
    /// Whether round-trip times are counted in whole ticks, by the timestamp first; else in microseconds from the time of
    /// sending (Linux since 3.15).
    #[must_use]
    pub const fn counts_ticks(self) -> bool {
        !matches!(self, Estimator::LinuxMicros)
    }

    /// The clock of the timestamps option at a time (`tcp_time_stamp`, RFC 7323 §5.4).
    pub(crate) fn stamp(self, clock: &Clock, at: Time) -> u32 {
        match self {
            Estimator::LinuxMicros => (at.as_nanos() / 1_000_000) as u32,
            _ => clock.ticks(at) as u32,
        }
    }

    /// What the clock of the timestamps option counts: milliseconds in Linux since 4.13, ticks elsewhere.
    pub(crate) fn stamp_unit(self, clock: &Clock) -> Duration {
        match self {
            Estimator::LinuxMicros => Duration::from_millis(1),
            _ => Duration::from_nanos(clock.tick_ns() as i64),
        }
    }
}

impl Rtt {
    /// An estimate without samples.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let filter = match settings.timers.estimator {
            Estimator::LinuxTicks | Estimator::LinuxMicros => Filter::Linux(Linux::new(settings)),
            Estimator::Rfc6298 => Filter::Rfc6298(Rfc6298::new(settings)),
            Estimator::Bsd => Filter::Bsd(Bsd::new(settings)),
            Estimator::Solaris => Filter::Solaris(Solaris::new(settings)),
        };
        Rtt {
            filter,
            initial_rto: settings.timers.initial_rto,
            fallback_rto: settings.timers.fallback_rto,
            max_rto: settings.timers.max_rto,
            stage: Stage::Initial,
        }
    }

    /// Takes a sample, in the unit in which the stack measures: a tick stack's is a multiple of its tick. `una` is the
    /// first byte not acknowledged, this acknowledgement counted, and `nxt` the first not sent.
    pub fn sample(&mut self, rtt: Duration, una: SeqNum, nxt: SeqNum) {
        let rtt = plausible(rtt);
        match &mut self.filter {
            Filter::Linux(filter) => filter.sample(rtt, una, nxt),
            Filter::Rfc6298(filter) => filter.sample(rtt),
            Filter::Bsd(filter) => filter.sample(rtt),
            Filter::Solaris(filter) => filter.sample(rtt),
        }
        self.stage = Stage::Sampled;
    }

    /// Takes another minimum of the timeout (`rto_min` of a route): what it kept up goes down at once to what the samples
    /// say. Estimators other than Linux's keep theirs.
    pub fn set_minimum(&mut self, min: Duration) {
        if let Filter::Linux(filter) = &mut self.filter {
            filter.set_minimum(min);
        }
    }

    /// What a host remembers of the path: eight times the smoothed round-trip time and four times the deviation. None
    /// before the first sample, and of stacks other than Linux's.
    #[must_use]
    pub fn remembered(&self) -> Option<(Duration, Duration)> {
        match (self.stage, &self.filter) {
            (Stage::Sampled, Filter::Linux(filter)) => Some(filter.remembered()),
            _ => None,
        }
    }

    /// Raises the estimate of the handshake to what the host remembers of the path (`tcp_init_metrics`, 3.10).
    pub fn remind(&mut self, srtt8: Duration, mdev4: Duration, nxt: SeqNum) {
        if let (Stage::Sampled, Filter::Linux(filter)) = (self.stage, &mut self.filter) {
            filter.remind(srtt8, mdev4, nxt);
        }
    }

    /// The handshake is over; if it gave no sample, the timeout is the fallback until the first (RFC 6298 §5.7).
    pub fn no_sample_after_handshake(&mut self) {
        if self.stage == Stage::Initial {
            self.stage = Stage::Fallback;
        }
    }

    /// The smoothed round-trip time, in whole units of the stack; none before the first sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        (self.stage == Stage::Sampled).then(|| match &self.filter {
            Filter::Linux(filter) => filter.srtt(),
            Filter::Rfc6298(filter) => filter.srtt(),
            Filter::Bsd(filter) => filter.srtt(),
            Filter::Solaris(filter) => filter.srtt(),
        })
    }

    /// Eight times the smoothed round-trip time in microseconds, 0 before the first sample: `srtt_us` of Linux since
    /// 3.15, from which `2 * srtt` comes as `srtt_us >> 2`; of a tick stack, its `srtt` in microseconds.
    #[must_use]
    pub fn srtt_us8(&self) -> u64 {
        match (self.stage, &self.filter) {
            (Stage::Sampled, Filter::Linux(filter)) => filter.srtt_us8(),
            (Stage::Sampled, _) => self
                .srtt()
                .map_or(0, |srtt| (srtt.as_nanos() / 125).unsigned_abs()),
            _ => 0,
        }
    }

    /// The smoothed round-trip time with the fraction of a microsecond that Linux keeps since 3.15; none before the first
    /// sample.
    #[must_use]
    pub fn srtt_fraction(&self) -> Option<Duration> {
        let eighths = self.srtt_us8();
        (eighths > 0).then(|| Duration::from_nanos(eighths as i64 * 125))
    }

    /// The smoothed round-trip time in whole microseconds (`srtt_us >> 3`); none before the first sample.
    #[must_use]
    pub fn srtt_micros(&self) -> Option<Duration> {
        let eighths = self.srtt_us8();
        (eighths > 0).then(|| Duration::from_micros((eighths >> 3) as i64))
    }

    /// The deviation as it enters the timeout (Linux: `rttvar`, at least the minimum; others: with its factor).
    #[must_use]
    pub fn rttvar(&self) -> Duration {
        match (self.stage, &self.filter) {
            (Stage::Initial, _) => self.initial_rto,
            (Stage::Fallback, _) => self.fallback_rto,
            (Stage::Sampled, Filter::Linux(filter)) => filter.rttvar(),
            (Stage::Sampled, Filter::Rfc6298(filter)) => filter.rttvar(),
            (Stage::Sampled, Filter::Bsd(filter)) => filter.rttvar(),
            (Stage::Sampled, Filter::Solaris(filter)) => filter.rttvar(),
        }
    }

    /// The timeout, bounded, without back-off.
    #[must_use]
    pub fn rto(&self) -> Duration {
        let rto = match (self.stage, &self.filter) {
            (Stage::Initial, _) => self.initial_rto,
            (Stage::Fallback, _) => self.fallback_rto,
            (Stage::Sampled, Filter::Linux(filter)) => filter.rto(),
            (Stage::Sampled, Filter::Rfc6298(filter)) => filter.rto(),
            (Stage::Sampled, Filter::Bsd(filter)) => filter.rto(),
            (Stage::Sampled, Filter::Solaris(filter)) => filter.rto(),
        };
        rto.min(self.max_rto)
    }

    /// The timeout in ticks, as a timer is armed with it (`icsk_rto`; `usecs_to_jiffies` rounds up).
    #[must_use]
    pub fn rto_ticks(&self, clock: &Clock) -> i64 {
        clock.ticks_in(self.rto())
    }
}
