//! What a host remembers of a peer from one connection to the next (`net/ipv4/tcp_metrics.c`, 3.10).
//!
//! Not kept: the congestion window, which only a locked metric of a route makes use of.

use rexmit_time::Duration;

use super::{CaState, Sender};
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
    /// What is remembered when the connection ends, where so much was remembered before (`tcp_update_metrics`).
    #[must_use]
    pub fn learned(&self, before: &Metrics) -> Metrics {
        let mut metrics = *before;
        let Some((srtt8, mdev4)) = self
            .timing
            .rtt
            .remembered()
            .filter(|_| !self.timing.is_backed_off())
        else {
            metrics.srtt8 = Duration::ZERO;
            return metrics;
        };
        // Too long is better than too short: a longer time is taken at once, a shorter one by and by.
        let tick = self.timing.moment.clock.tick_ns() as i64;
        let shifted = |span: Duration, shift: u32| {
            Duration::from_nanos(((span.as_nanos() / tick) >> shift) * tick)
        };
        let fall = before.srtt8 - srtt8;
        metrics.srtt8 = match fall > Duration::ZERO {
            true => before.srtt8 - shifted(fall, 3),
            false => srtt8,
        };
        let apart = fall.max(Duration::ZERO - fall);
        let deviation = shifted(apart, 1).max(mdev4);
        metrics.mdev4 = match deviation >= before.mdev4 {
            true => deviation,
            false => before.mdev4 - shifted(before.mdev4 - deviation, 2),
        };
        metrics.srtt8 = whole_millis(metrics.srtt8);
        metrics.mdev4 = whole_millis(metrics.mdev4);
        metrics.learn_window(before, self);
        metrics
    }
}

impl Metrics {
    /// A sender begins with what is remembered of the peer (`tcp_init_metrics`).
    pub(super) fn recall(&self, sender: &mut Sender) {
        let window = &mut sender.congestion.window;
        if self.ssthresh > 0 {
            window.ssthresh = self.ssthresh.min(window.clamp);
        }
        let detection = &mut sender.detection;
        if self.reordering > 0 && self.reordering != detection.threshold {
            detection.fack = false;
            detection.early_retransmit = false;
            detection.threshold = self.reordering;
        }
        if self.srtt8 > Duration::ZERO {
            let nxt = sender.flight.nxt();
            sender.timing.rtt.remind(self.srtt8, self.mdev4, nxt);
        }
    }

    /// The threshold and the reordering, where so much was remembered `before`.
    fn learn_window(&mut self, before: &Metrics, sender: &Sender) {
        let Window { cwnd, ssthresh, .. } = sender.congestion.window;
        let known = before.ssthresh > 0;
        if ssthresh >= Window::INFINITE {
            // Slow start was never left.
            if known && cwnd / 2 > before.ssthresh {
                self.ssthresh = cwnd / 2;
            }
        } else if cwnd > ssthresh && sender.episode.state == CaState::Open {
            self.ssthresh = (cwnd / 2).max(ssthresh);
        } else {
            if known && ssthresh > before.ssthresh {
                self.ssthresh = ssthresh;
            }
            let usual = sender.flight.settings.loss.dupack_threshold;
            if before.reordering < sender.detection.threshold && sender.detection.threshold != usual
            {
                self.reordering = sender.detection.threshold;
            }
        }
    }
}

fn whole_millis(span: Duration) -> Duration {
    Duration::from_millis(span.as_nanos() / 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rexmit_time::Time;
    use rexmit_wire::SeqNum;

    use super::*;
    use crate::sender::Peer;
    use crate::stacks;

    const MILLI: fn(i64) -> Duration = Duration::from_millis;

    fn sender(rtt_ms: i64, metrics: Metrics) -> Sender {
        let settings = stacks::page("linux-3.10").unwrap().settings;
        let clock = settings.timers.clock();
        let now = Time::from_nanos(1_000_000_000);
        let mut sender = Sender::new(Arc::new(settings), clock, 1448, SeqNum::new(0), now);
        let peer = Peer {
            window: 14_600,
            seq: SeqNum::new(0),
            sack: true,
            ecn: false,
            handshake_retransmissions: 0,
            metrics,
        };
        sender.established(now, Some(MILLI(rtt_ms)), &peer);
        sender
    }

    #[test]
    fn a_first_connection_leaves_its_round_trip_and_no_threshold() {
        let learned = sender(100, Metrics::default()).learned(&Metrics::default());
        // Half the distance to what was known, nothing, counts as deviation.
        assert_eq!((learned.srtt8, learned.mdev4), (MILLI(800), MILLI(400)));
        assert_eq!((learned.ssthresh, learned.reordering), (0, 0));
    }

    #[test]
    fn a_longer_round_trip_is_taken_at_once_and_a_shorter_one_by_and_by() {
        let before = Metrics {
            srtt8: MILLI(800),
            mdev4: MILLI(400),
            ..Metrics::default()
        };
        assert_eq!(
            sender(200, Metrics::default()).learned(&before).srtt8,
            MILLI(1600)
        );
        // An eighth of the way from 800 to 400.
        assert_eq!(
            sender(48, Metrics::default()).learned(&before).srtt8,
            MILLI(748)
        );
    }

    #[test]
    fn what_is_remembered_only_raises_the_first_estimate() {
        let low = Metrics {
            srtt8: MILLI(80),
            mdev4: MILLI(40),
            ..Metrics::default()
        };
        assert_eq!(
            sender(100, low).timing().rto(),
            sender(100, Metrics::default()).timing().rto()
        );
        let high = Metrics {
            srtt8: MILLI(8_000),
            mdev4: MILLI(4_000),
            ..Metrics::default()
        };
        assert_eq!(sender(100, high).timing().rto(), MILLI(5_000));
    }

    #[test]
    fn a_threshold_is_begun_with_and_reordering_ends_fack() {
        let metrics = Metrics {
            ssthresh: 16,
            reordering: 5,
            ..Metrics::default()
        };
        let sender = sender(100, metrics);
        assert_eq!(
            (sender.congestion.window.ssthresh, sender.reordering()),
            (16, 5)
        );
        assert!(!sender.detection.fack && !sender.detection.early_retransmit);
    }

    #[test]
    fn a_threshold_is_kept_from_congestion_avoidance_and_else_only_raised() {
        let mut sender = sender(100, Metrics::default());
        let known = Metrics {
            ssthresh: 20,
            ..Metrics::default()
        };
        (
            sender.congestion.window.cwnd,
            sender.congestion.window.ssthresh,
        ) = (18, 17);
        assert_eq!(sender.learned(&known).ssthresh, 17);
        (
            sender.congestion.window.cwnd,
            sender.congestion.window.ssthresh,
        ) = (4, 17);
        assert_eq!(sender.learned(&known).ssthresh, 20);
        assert_eq!(sender.learned(&Metrics::default()).ssthresh, 0);
    }
}
