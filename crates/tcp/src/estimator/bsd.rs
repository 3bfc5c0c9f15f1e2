//! BSD: fixed point in ticks, as FreeBSD 5.2.1's `tcp_xmit_timer`.

use rexmit_time::Duration;

use super::Variant;
use crate::settings::Settings;

/// BSD's estimator, with the gains and factors of the settings: 1/8, 1/4, 1 and 4 in every BSD.
#[derive(Clone, Debug)]
pub struct Bsd {
    tick_ns: i64,
    /// `t_rttmin`.
    min: i64,
    /// `tcp_rexmit_slop`.
    slop: i64,
    /// The smoothed round-trip time in ticks, with two bits of fraction and those that its gain takes; zero before the
    /// first sample (`t_srtt`).
    srtt: i64,
    srtt_shift: u32,
    srtt_factor: f64,
    /// The mean deviation, likewise (`t_rttvar`).
    rttvar: i64,
    rttvar_shift: u32,
    rttvar_factor: i64,
    /// The latest sample, which bounds the timeout from below.
    latest: i64,
}

impl Bsd {
    pub(super) fn new(settings: &Settings) -> Self {
        let tick_ns = 1_000_000_000 / i64::from(settings.timers.hz);
        Bsd {
            tick_ns,
            min: settings.timers.min_rto.as_nanos() / tick_ns,
            slop: settings.timers.rto_slop.as_nanos() / tick_ns,
            srtt: 0,
            srtt_shift: settings.timers.srtt_shift,
            srtt_factor: settings.timers.srtt_factor,
            rttvar: 0,
            rttvar_shift: settings.timers.rttvar_shift,
            rttvar_factor: i64::from(settings.timers.rttvar_factor),
            latest: 0,
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        // As `tcp_input` measures by timestamps: ticks since the echoed one, and one.
        let rtt = rtt.as_nanos() / self.tick_ns + 1;
        self.latest = rtt;
        if self.srtt == 0 {
            self.srtt = rtt << (self.srtt_shift + 2);
            self.rttvar = rtt << (self.rttvar_shift + 1);
            return;
        }
        // The error with two bits of fraction; the one tick that every sample has too many is taken off.
        let error = ((rtt - 1) << 2) - (self.srtt >> self.srtt_shift);
        self.srtt = (self.srtt + error).max(1);
        self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> self.rttvar_shift)).max(1);
    }

    pub(super) fn srtt(&self) -> Duration {
        self.span(self.srtt >> (self.srtt_shift + 2))
    }

    pub(super) fn rttvar(&self) -> Duration {
        self.span(self.deviation() >> 2)
    }

    /// `TCP_REXMTVAL` and `TCPT_RANGESET`.
    pub(super) fn rto(&self) -> Duration {
        self.rto_of(self.srtt_factor, self.rttvar_factor, self.min)
    }

    /// The timeout with other factors and another minimum, which the filter does not know of.
    pub(super) fn rto_with(&self, variant: &Variant) -> Duration {
        self.rto_of(
            variant.srtt_factor,
            i64::from(variant.rttvar_factor),
            variant.min_rto.as_nanos() / self.tick_ns,
        )
    }

    fn rto_of(&self, srtt_factor: f64, rttvar_factor: i64, min: i64) -> Duration {
        let mean = (self.srtt >> self.srtt_shift) as f64 * srtt_factor;
        let deviation = (self.rttvar * rttvar_factor) >> self.rttvar_shift;
        let value = ((mean as i64 + deviation) >> 2).max(min);
        self.span((value + self.slop).max(min).max(self.latest + 2))
    }

    /// The deviation as it enters the timeout, with two bits of fraction.
    fn deviation(&self) -> i64 {
        (self.rttvar * self.rttvar_factor) >> self.rttvar_shift
    }

    fn span(&self, ticks: i64) -> Duration {
        Duration::from_nanos(ticks * self.tick_ns)
    }
}
