//! BSD: fixed point in ticks, as FreeBSD 5.2.1's `tcp_xmit_timer`.

use rexmit_time::Duration;

use crate::settings::Settings;

/// BSD's estimator.
#[derive(Clone, Debug)]
pub struct Bsd {
    tick_ns: i64,
    /// `t_rttmin`.
    min: i64,
    /// `tcp_rexmit_slop`.
    slop: i64,
    /// 32 times the smoothed round-trip time in ticks; zero before the first sample (`t_srtt`).
    srtt: i64,
    /// 16 times the mean deviation in ticks (`t_rttvar`).
    rttvar: i64,
    /// The latest sample, which bounds the timeout from below.
    latest: i64,
}

impl Bsd {
    pub(super) fn new(settings: &Settings) -> Self {
        let tick_ns = 1_000_000_000 / i64::from(settings.hz);
        Bsd {
            tick_ns,
            min: settings.min_rto.as_nanos() / tick_ns,
            slop: settings.rto_slop.as_nanos() / tick_ns,
            srtt: 0,
            rttvar: 0,
            latest: 0,
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        // As `tcp_input` measures by timestamps: ticks since the echoed one, and one.
        let rtt = rtt.as_nanos() / self.tick_ns + 1;
        self.latest = rtt;
        if self.srtt == 0 {
            self.srtt = rtt << 5;
            self.rttvar = rtt << 3;
            return;
        }
        // The error with two bits of fraction; the one tick that every sample has too many is taken off.
        let error = ((rtt - 1) << 2) - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        self.rttvar = (self.rttvar + error.abs() - (self.rttvar >> 2)).max(1);
    }

    pub(super) fn srtt(&self) -> Duration {
        self.span(self.srtt >> 5)
    }

    pub(super) fn rttvar(&self) -> Duration {
        self.span(self.rttvar >> 2)
    }

    /// `TCP_REXMTVAL` and `TCPT_RANGESET`.
    pub(super) fn rto(&self) -> Duration {
        let value = (((self.srtt >> 3) + self.rttvar) >> 2).max(self.min);
        self.span((value + self.slop).max(self.min).max(self.latest + 2))
    }

    fn span(&self, ticks: i64) -> Duration {
        Duration::from_nanos(ticks * self.tick_ns)
    }
}
