//! When a window holds a sender up: one that its receiver has closed, and one that is full.

use rexmit_time::{Duration, Time};

/// When a receiver had closed its window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Closings {
    since: Option<Time>,
    /// How often.
    pub count: u32,
    /// How long in all, so far.
    pub length: Duration,
}

impl Closings {
    /// It is closed by a packet at `at`, unless it was before.
    pub fn close(&mut self, at: Time) {
        if self.since.is_none() {
            self.since = Some(at);
            self.count = self.count.saturating_add(1);
        }
    }

    /// It is open from `at` on.
    pub fn open(&mut self, at: Time) {
        if let Some(since) = self.since.take() {
            self.length += at.since(since).max(Duration::ZERO);
        }
    }
}

/// When a sender with more to send had filled the window that its receiver offered.
///
/// That it had more to send shows when the window moves on: new data follow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Full {
    since: Option<Time>,
    /// How long it was full since new data were sent last.
    pending: Duration,
    length: Duration,
    /// The largest window that was offered.
    largest: u32,
}

impl Full {
    /// How things stand at `at`: so many bytes sent and not acknowledged, the window offered, the size of a segment, and whether
    /// data have just been sent for the first time.
    #[inline]
    pub fn note(&mut self, at: Time, flight: i64, window: u32, segment: u32, new: bool) {
        if new {
            self.length += core::mem::take(&mut self.pending);
        }
        self.largest = self.largest.max(window);
        // A sender does not send into what is left where that is less than a segment, and less than half of the largest window
        // (RFC 9293 §3.8.6.2.1).
        let least = segment.min(self.largest / 2);
        let full = window > 0 && flight > 0 && i64::from(window) - flight < i64::from(least);
        match self.since {
            None if full => self.since = Some(at),
            Some(since) if !full => {
                self.pending += at.since(since).max(Duration::ZERO);
                self.since = None;
            }
            _ => {}
        }
    }

    /// How long in all.
    pub const fn length(&self) -> Duration {
        self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_window_is_closed_from_its_closing_to_its_opening() {
        let mut closings = Closings::default();
        closings.open(at(1));
        closings.close(at(10));
        closings.close(at(15));
        closings.open(at(40));
        closings.close(at(50));
        closings.open(at(51));
        assert_eq!(
            (closings.count, closings.length),
            (2, Duration::from_millis(31))
        );
    }

    #[test]
    fn a_full_window_holds_up_who_sends_on_when_it_moves() {
        let mut full = Full::default();
        // A window of four segments, filled at 0, acknowledged at 30, and filled again at once.
        full.note(at(0), 4_000, 4_000, 1_000, true);
        full.note(at(30), 2_000, 4_000, 1_000, false);
        assert_eq!(full.length(), Duration::ZERO);
        full.note(at(30), 3_500, 4_000, 1_000, true);
        assert_eq!(full.length(), Duration::from_millis(30));
        // Nothing follows: what was full at the end held nobody up.
        full.note(at(60), 0, 4_000, 1_000, false);
        assert_eq!(full.length(), Duration::from_millis(30));
    }

    #[test]
    fn a_window_smaller_than_a_segment_is_full_when_half_of_it_is() {
        let mut full = Full::default();
        // 100 bytes of a window of 65,483, of which a segment takes all: the next 100 could follow at once.
        for write in 0..3 {
            full.note(at(write * 40), 100, 65_483, 65_495, true);
            full.note(at(write * 40 + 30), 0, 65_483, 65_495, false);
        }
        assert_eq!(full.length(), Duration::ZERO);
        full.note(at(200), 40_000, 65_483, 65_495, true);
        full.note(at(230), 0, 65_483, 65_495, false);
        full.note(at(230), 40_000, 65_483, 65_495, true);
        assert_eq!(full.length(), Duration::from_millis(30));
    }

    #[test]
    fn a_closed_window_is_not_full() {
        let mut full = Full::default();
        full.note(at(0), 0, 0, 1_000, false);
        full.note(at(50), 1, 0, 1_000, true);
        full.note(at(60), 0, 4_000, 1_000, false);
        full.note(at(60), 1_000, 4_000, 1_000, true);
        assert_eq!(full.length(), Duration::ZERO);
    }
}
