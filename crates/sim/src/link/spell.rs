//! Times that come and go by themselves: in which a link stands still, or loses all.

use rexmit_time::{Duration, Stream, Time};

/// Spells that come at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spells {
    /// Mean time from the end of one to the next (exponential).
    pub every: Duration,
    /// Shortest.
    pub least: Duration,
    /// Longest; evenly drawn in between.
    pub most: Duration,
}

/// The spell at hand, or the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spell {
    begin: Time,
    end: Time,
}

impl Spell {
    /// The end of the spell that `now` is in.
    pub fn within(&mut self, now: Time, spells: &Spells, stream: &mut Stream) -> Option<Time> {
        self.advance(now, spells, stream);
        (now >= self.begin).then_some(self.end)
    }

    /// When a packet leaves a link that stands still in spells, which enters at `now` and would leave at `ready`.
    pub fn held(&mut self, now: Time, ready: Time, spells: &Spells, stream: &mut Stream) -> Time {
        self.advance(now, spells, stream);
        if ready >= self.begin {
            ready.max(self.end)
        } else {
            ready
        }
    }

    /// Goes on until the spell has not ended at `now`.
    fn advance(&mut self, now: Time, spells: &Spells, stream: &mut Stream) {
        if self.end == Time::ZERO {
            // There is none when the first packet comes.
            self.draw(now, spells, stream);
        }
        while self.end <= now {
            self.draw(self.end, spells, stream);
        }
    }

    fn draw(&mut self, after: Time, spells: &Spells, stream: &mut Stream) {
        let wait = -(1.0 - stream.uniform()).ln() * spells.every.as_nanos() as f64;
        self.begin = after + Duration::from_nanos((wait as i64).max(1));
        let spread = (spells.most - spells.least)
            .as_nanos()
            .max(0)
            .unsigned_abs();
        let length = spells.least + Duration::from_nanos(stream.below(spread + 1) as i64);
        self.end = self.begin + length.max(Duration::from_nanos(1));
    }
}
