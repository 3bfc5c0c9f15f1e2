//! What a sender knows of time: the round trip, the timeout that comes of it, and the timer.

use rexmit_time::Duration;

use super::timed::Timed;
use super::timer::Timer;
use crate::clock::{Clock, Tick};
use crate::estimator::{MinRtt, Rtt};
use crate::recovery::constants::{MIN_RTT_WINDOW, RTO_MIN};
use crate::recovery::rto::BackOff;
use crate::settings::Settings;

/// Round trips, the timeout and the timer.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    pub rtt: Rtt,
    pub min_rtt: MinRtt,
    pub timed: Timed,
    pub timer: Timer,
    /// The timeout as the timer is set to it, whole ticks, back-off included (`icsk_rto`).
    pub rto: Duration,
    /// Doublings (`icsk_backoff`).
    pub backoff: u8,
    /// Window probes without an answer (`icsk_probes_out`).
    pub window_probes: u32,
}

impl Timing {
    /// Before the first sample, at `tick`.
    pub fn new(settings: &Settings, clock: &Clock, tick: i64) -> Self {
        let rtt = Rtt::new(settings);
        let min_rtt_window = MIN_RTT_WINDOW.as_nanos() / 1_000_000_000;
        Timing {
            rto: clock.tick().up(rtt.rto()),
            rtt,
            min_rtt: MinRtt::new(min_rtt_window * i64::from(clock.ticks.hz), tick),
            timed: Timed::default(),
            timer: Timer::default(),
            backoff: 0,
            window_probes: 0,
        }
    }

    /// The timeout is what the round trips say (RFC 6298 §5.7).
    pub fn forget_back_off(&mut self, tick: Tick) {
        self.rto = tick.up(self.rtt.rto());
        self.backoff = 0;
    }

    /// The wait before a shut window is probed, without back-off (`tcp_probe0_base`).
    pub fn persist_base(&self, clock: &Clock) -> Duration {
        self.rto.max(clock.tick().up(RTO_MIN))
    }

    /// The wait with back-off (`tcp_probe0_when`).
    pub fn persist_wait(&self, clock: &Clock, longest: Duration) -> Duration {
        let ratio = clock.ticks_in(longest) / clock.ticks_in(RTO_MIN).max(1);
        let doublings = u32::from(self.backoff).min(ratio.max(1).ilog2() + 1);
        (self.persist_base(clock) * (1 << doublings)).min(longest)
    }

    /// The timeout ran out.
    pub fn back_off(&mut self, grows: &BackOff<Duration>) {
        self.rto = grows.after(self.rto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Wheel;
    use crate::stacks;
    use rexmit_wire::SeqNum;

    #[test]
    fn a_sample_ends_the_back_off_with_a_timeout_of_whole_ticks() {
        let settings = stacks::page("linux-6.12").unwrap().settings;
        let clock = Clock::linux(250, Wheel::Levels);
        let mut timing = Timing::new(&settings, &clock, 0);
        assert_eq!(timing.rto, Duration::from_secs(1));
        let grows = BackOff {
            slop: Duration::ZERO,
            max: Duration::from_secs(120),
        };
        timing.back_off(&grows);
        timing.backoff = 1;
        assert_eq!(timing.rto, Duration::from_secs(2));
        let (una, nxt) = (SeqNum::new(0), SeqNum::new(1));
        timing.rtt.sample(Duration::from_millis(21), una, nxt);
        timing.forget_back_off(clock.tick());
        // 21 ms and 200 ms, in ticks of 4 ms.
        assert_eq!(timing.rto, Duration::from_millis(224));
        assert_eq!(timing.backoff, 0);
    }

    #[test]
    fn the_wait_before_a_probe_doubles_up_to_the_longest_timeout() {
        let settings = stacks::page("linux-6.12").unwrap().settings;
        let clock = Clock::linux(250, Wheel::Levels);
        let mut timing = Timing::new(&settings, &clock, 0);
        let longest = Duration::from_secs(5);
        let waits = [0, 1, 2, 3, 20].map(|backoff| {
            timing.backoff = backoff;
            timing.persist_wait(&clock, longest)
        });
        assert_eq!(waits, [1, 2, 4, 5, 5].map(Duration::from_secs));
    }
}
