//! Solaris: milliseconds, as `tcp_set_rto`.

use rexmit_time::Duration;

use crate::settings::Settings;

/// Solaris's estimator, integers in milliseconds.
#[derive(Clone, Debug)]
pub struct Solaris {
    /// Lower bound of the timeout (`tcp_rexmit_interval_min`).
    min: i64,
    /// Eight times the smoothed round-trip time (`tcp_rtt_sa`).
    sa: i64,
    /// Four times the deviation (`tcp_rtt_sd`).
    sd: i64,
}

impl Solaris {
    pub(super) fn new(settings: &Settings) -> Self {
        Solaris {
            min: settings.min_rto.as_nanos() / 1_000_000,
            sa: 0,
            sd: 0,
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        self.sa = rtt.as_nanos() / 1_000_000 * 8;
    }

    pub(super) fn srtt(&self) -> Duration {
        Duration::from_millis(self.sa >> 3)
    }

    pub(super) fn rttvar(&self) -> Duration {
        Duration::from_millis(self.sd)
    }

    pub(super) fn rto(&self) -> Duration {
        Duration::from_millis(((self.sa >> 3) + self.sd + (self.sa >> 5)).max(self.min))
    }
}
