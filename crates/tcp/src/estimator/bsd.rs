//! BSD: fixed point in ticks, as FreeBSD 5.2.1's `tcp_xmit_timer`.

use rexmit_time::Duration;

use crate::settings::Settings;

/// BSD's estimator.
#[derive(Clone, Debug)]
pub struct Bsd {
    tick_ns: i64,
    min_ticks: i64,
    slop_ticks: i64,
    /// 32 times the smoothed round-trip time; zero before the first sample (`t_srtt`, 5 bits of fraction).
    srtt: i64,
    /// 16 times the mean deviation (`t_rttvar`, 4 bits).
    rttvar: i64,
    last: i64,
}

impl Bsd {
    pub(super) fn new(settings: &Settings) -> Self {
        let tick_ns = 1_000_000_000 / i64::from(settings.hz);
        Bsd {
            tick_ns,
            min_ticks: settings.min_rto.as_nanos() / tick_ns,
            slop_ticks: settings.rto_slop.as_nanos() / tick_ns,
            srtt: 0,
            rttvar: 0,
            last: 0,
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        self.last = rtt.as_nanos() / self.tick_ns;
    }

    pub(super) fn srtt(&self) -> Duration {
        Duration::from_nanos((self.srtt >> 5) * self.tick_ns)
    }

    pub(super) fn rttvar(&self) -> Duration {
        Duration::from_nanos((self.rttvar >> 2) * self.tick_ns)
    }

    pub(super) fn rto(&self) -> Duration {
        let ticks = (self.srtt >> 5) + (self.rttvar >> 2);
        Duration::from_nanos((ticks.max(self.min_ticks) + self.slop_ticks) * self.tick_ns)
    }
}
