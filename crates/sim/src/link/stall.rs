//! Times in which a link carries nothing.

use rexmit_time::{Duration, Stream, Time};

/// A link that stands still now and then, as one by radio does: what enters meanwhile, or would leave, waits for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalls {
    /// Mean time from one to the next (exponential).
    pub every: Duration,
    /// Shortest.
    pub least: Duration,
    /// Longest; evenly drawn in between.
    pub most: Duration,
}

/// The stall at hand, or the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stall {
    begin: Time,
    end: Time,
}

impl Stall {
    /// When a packet leaves that enters at `now` and would leave at `ready`.
    pub fn held(&mut self, now: Time, ready: Time, stalls: &Stalls, stream: &mut Stream) -> Time {
        if self.end == Time::ZERO {
            // The link worked before the first packet, too.
            self.draw(now, stalls, stream);
        }
        while self.end <= now {
            self.draw(self.end, stalls, stream);
        }
        if ready >= self.begin {
            ready.max(self.end)
        } else {
            ready
        }
    }

    fn draw(&mut self, after: Time, stalls: &Stalls, stream: &mut Stream) {
        let wait = -(1.0 - stream.uniform()).ln() * stalls.every.as_nanos() as f64;
        self.begin = after + Duration::from_nanos((wait as i64).max(1));
        let spread = (stalls.most - stalls.least)
            .as_nanos()
            .max(0)
            .unsigned_abs();
        let length = stalls.least + Duration::from_nanos(stream.below(spread + 1) as i64);
        self.end = self.begin + length.max(Duration::from_nanos(1));
    }
}
