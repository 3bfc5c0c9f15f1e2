//! Solaris: milliseconds, as `tcp_set_rto` and `tcp_init_values`.

use rexmit_time::Duration;

use crate::settings::Settings;

/// The deviation's term is never less (`TCP_SD_MIN`), so that the smallest timeout is 400 ms and 1.25 round trips.
const SD_MIN: i64 = 400;

/// Solaris's estimator, integers in milliseconds.
///
/// It does not begin with the first sample but with an assumed round-trip time of half of
/// `tcp_rexmit_interval_initial`, which the samples then pull down by an eighth each: early timeouts are seconds long
/// even on short paths.
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
        // The first timeout is 9/8 of tcp_rexmit_interval_initial: 1/2 + 1/2 + 1/8.
        let initial = settings.initial_rto.as_nanos() / 1_000_000 * 8 / 9;
        Solaris {
            min: settings.min_rto.as_nanos() / 1_000_000,
            sa: initial << 2,
            sd: initial >> 1,
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        let error = rtt.as_nanos() / 1_000_000 - (self.sa >> 3);
        self.sa = (self.sa + error).max(1);
        self.sd = (self.sd + error.abs() - (self.sd >> 2)).max(SD_MIN);
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
