//! When things happened at the sender, from what the monitor shows.

use rexmit_time::{Duration, Time};

use super::clock::Delays;
use super::stamps::Stamps;
use crate::event::Event;
use crate::rows::Position;

/// What is known of times at the sender.
#[derive(Debug)]
pub(super) struct Times {
    pub clock: Delays,
    pub stamps: Stamps,
    /// The way to the receiver and back, newest sample.
    pub beyond_now: Duration,
    /// How long packets without stamps waited before the monitor of late, as far as that is known.
    waited: Duration,
    /// Newest time given to an event.
    told: Time,
}

impl Times {
    pub fn new(clock: Delays) -> Self {
        Times {
            clock,
            stamps: Stamps::default(),
            beyond_now: Duration::ZERO,
            waited: Duration::ZERO,
            told: Time::ZERO,
        }
    }

    /// No time goes back for the emulations.
    pub fn not_before(&mut self, at: Time) -> Time {
        self.told = self.told.max(at);
        self.told
    }

    /// The newest time given to an event.
    pub fn told(&self) -> Time {
        self.told
    }

    /// A packet waited so long before the monitor.
    pub fn note_wait(&mut self, wait: Duration) {
        self.waited = wait.max(Duration::ZERO).max(self.waited * 15 / 16);
    }

    /// The least time from the monitor to the receiver and back, else the newest.
    pub fn beyond(&self) -> Duration {
        self.clock.beyond().unwrap_or(self.beyond_now)
    }

    /// When a packet was sent, sender's clock.
    pub fn sent_at(&self, event: &Event) -> Time {
        self.stamps.sent_at(event)
    }

    /// Whether the time of a packet is the sender's own.
    pub fn is_own(&self, event: &Event) -> bool {
        self.clock.is_beside_sender()
            || (event.timestamps.is_some() && self.stamps.tick().is_some())
    }

    /// How far times at the sender may be off.
    pub fn slack(&self) -> Duration {
        match (self.clock.position(), self.stamps.tick()) {
            (Position::Sender, _) => Duration::ZERO,
            (_, Some(tick)) => tick,
            _ => (self.clock.delay(true) + self.waited) / 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn told_times_never_go_back() {
        let mut times = Times::new(Delays::within(VecDeque::new()));
        let at = Time::from_nanos;
        assert_eq!(times.not_before(at(5)), at(5));
        assert_eq!(times.not_before(at(3)), at(5));
        assert_eq!(times.told(), at(5));
    }

    #[test]
    fn the_longest_wait_of_late_makes_times_unsure() {
        let mut times = Times::new(Delays::within(VecDeque::new()));
        let before = times.slack();
        times.note_wait(Duration::from_millis(16));
        let waited = times.slack();
        assert_eq!(waited - before, Duration::from_millis(4));
        times.note_wait(Duration::from_millis(-1));
        assert_eq!(times.slack() - before, (waited - before) * 15 / 16);
    }
}
