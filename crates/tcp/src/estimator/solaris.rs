//! Solaris: milliseconds, as `tcp_set_rto` and `tcp_init_values`.

use rexmit_time::Duration;

use super::Variant;
use crate::settings::Settings;

/// The deviation's term is never less (`TCP_SD_MIN`), so that the smallest timeout is 400 ms and 1.25 round trips.
const SD_MIN: i64 = 400;

/// Solaris's estimator, integers in milliseconds, with the gains and factors of the settings: 1/8, 1/4, 1.25 and 4 in
/// Solaris.
///
/// It does not begin with the first sample but with an assumed round-trip time of half of
/// `tcp_rexmit_interval_initial`, which the samples then pull down by an eighth each: early timeouts are seconds long
/// even on short paths.
#[derive(Clone, Debug)]
pub struct Solaris {
    /// Lower bound of the timeout (`tcp_rexmit_interval_min`).
    min: i64,
    /// The smoothed round-trip time with as many bits of fraction as its gain takes (`tcp_rtt_sa`).
    sa: i64,
    sa_shift: u32,
    sa_factor: f64,
    /// The deviation, likewise (`tcp_rtt_sd`).
    sd: i64,
    sd_shift: u32,
    sd_factor: i64,
}

impl Solaris {
    pub(super) fn new(settings: &Settings) -> Self {
        // The first timeout is 9/8 of tcp_rexmit_interval_initial: 1/2 + 1/2 + 1/8.
        let initial = settings.timers.initial_rto.as_nanos() / 1_000_000 * 8 / 9;
        Solaris {
            min: settings.timers.min_rto.as_nanos() / 1_000_000,
            sa: (initial << settings.timers.srtt_shift) / 2,
            sa_shift: settings.timers.srtt_shift,
            sa_factor: settings.timers.srtt_factor,
            sd: (initial << settings.timers.rttvar_shift) / 8,
            sd_shift: settings.timers.rttvar_shift,
            sd_factor: i64::from(settings.timers.rttvar_factor),
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        let error = rtt.as_nanos() / 1_000_000 - (self.sa >> self.sa_shift);
        self.sa = (self.sa + error).max(1);
        self.sd += error.abs() - (self.sd >> self.sd_shift);
        self.sd = self.sd.max((SD_MIN << self.sd_shift) >> 2);
    }

    pub(super) fn srtt(&self) -> Duration {
        Duration::from_millis(self.sa >> self.sa_shift)
    }

    pub(super) fn rttvar(&self) -> Duration {
        Duration::from_millis((self.sd * self.sd_factor) >> self.sd_shift)
    }

    pub(super) fn rto(&self) -> Duration {
        self.rto_of(self.sa_factor, self.sd_factor, self.min)
    }

    /// The timeout with other factors and another minimum, which the filter does not know of.
    pub(super) fn rto_with(&self, variant: &Variant) -> Duration {
        self.rto_of(
            variant.srtt_factor,
            i64::from(variant.rttvar_factor),
            variant.min_rto.as_nanos() / 1_000_000,
        )
    }

    fn rto_of(&self, sa_factor: f64, sd_factor: i64, min: i64) -> Duration {
        let mean = (self.sa >> self.sa_shift) as f64 * sa_factor;
        let deviation = (self.sd * sd_factor) >> self.sd_shift;
        Duration::from_millis((mean as i64 + deviation).max(min))
    }
}
