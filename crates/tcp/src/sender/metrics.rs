//! What a host remembers of a peer from one connection to the next (`net/ipv4/tcp_metrics.c`, 3.10).
//!
//! Not kept: the congestion window, which only a locked metric of a route makes use of.

use rexmit_time::Duration;

use super::{Sender, State};
use crate::congestion::Window;

/// What is remembered; zero where nothing is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Eight times the smoothed round-trip time, whole milliseconds.
    pub srtt8: Duration,
    /// Four times its deviation, whole milliseconds.
    pub mdev4: Duration,
    /// The slow start threshold, segments.
    pub ssthresh: u32,
    /// The reordering reckoned with, segments.
    pub reordering: u32,
}

impl Sender {
    /// Begins with what is remembered of the peer (`tcp_init_metrics`).
    pub(super) fn recall(&mut self, metrics: &Metrics) {
        if metrics.ssthresh > 0 {
            self.window.ssthresh = metrics.ssthresh.min(self.window.clamp);
        }
        if metrics.reordering > 0 && metrics.reordering != self.reordering {
            self.fack.on = false;
            self.early_retransmit = false;
            self.reordering = metrics.reordering;
        }
        if metrics.srtt8 > Duration::ZERO {
            self.rtt.remind(metrics.srtt8, metrics.mdev4, self.nxt);
        }
    }

    /// What is remembered when the connection ends, where so much was remembered before (`tcp_update_metrics`).
    #[must_use]
    pub fn learned(&self, before: &Metrics) -> Metrics {
        let mut metrics = *before;
        let Some((srtt8, mdev4)) = self.rtt.remembered().filter(|_| self.backoff == 0) else {
            metrics.srtt8 = Duration::ZERO;
            return metrics;
        };
        // Too long is better than too short: a longer time is taken at once, a shorter one by and by.
        let fall = before.srtt8 - srtt8;
        metrics.srtt8 = match fall > Duration::ZERO {
            true => before.srtt8 - self.shifted(fall, 3),
            false => srtt8,
        };
        let apart = if fall < Duration::ZERO {
            Duration::ZERO - fall
        } else {
            fall
        };
        let deviation = self.shifted(apart, 1).max(mdev4);
        metrics.mdev4 = match deviation >= before.mdev4 {
            true => deviation,
            false => before.mdev4 - self.shifted(before.mdev4 - deviation, 2),
        };
        metrics.srtt8 = whole_millis(metrics.srtt8);
        metrics.mdev4 = whole_millis(metrics.mdev4);
        self.learn_window(before, &mut metrics);
        metrics
    }

    fn learn_window(&self, before: &Metrics, metrics: &mut Metrics) {
        let Window { cwnd, ssthresh, .. } = self.window;
        let known = before.ssthresh > 0;
        if ssthresh >= Window::INFINITE {
            // Slow start was never left.
            if known && cwnd / 2 > before.ssthresh {
                metrics.ssthresh = cwnd / 2;
            }
        } else if cwnd > ssthresh && self.state == State::Open {
            metrics.ssthresh = (cwnd / 2).max(ssthresh);
        } else {
            if known && ssthresh > before.ssthresh {
                metrics.ssthresh = ssthresh;
            }
            let usual = self.settings.dupack_threshold;
            if before.reordering < self.reordering && self.reordering != usual {
                metrics.reordering = self.reordering;
            }
        }
    }

    /// A part of a time, in whole ticks.
    fn shifted(&self, span: Duration, shift: u32) -> Duration {
        let tick = 1_000_000_000 / i64::from(self.clock.hz);
        Duration::from_nanos(((span.as_nanos() / tick) >> shift) * tick)
    }
}

fn whole_millis(span: Duration) -> Duration {
    Duration::from_millis(span.as_nanos() / 1_000_000)
}
