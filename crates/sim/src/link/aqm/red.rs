//! RED (Floyd and Jacobson 1993), gentle (Floyd 2000): packets are dropped as they come, with a probability that grows with the
//! mean length of the queue.

use rexmit_plan::Red as Parameters;
use rexmit_time::{Duration, Stream, Time};

use super::super::serve::sending;
use super::{Counters, Item, Line};

/// A frame whose time on the line is that of a look at an empty queue.
const FRAME: u64 = 1514;

/// RED's state.
#[derive(Debug)]
pub(super) struct Red {
    with: Parameters,
    draws: Stream,
    /// Mean length, packets.
    mean: f64,
    /// Packets since the last that was dropped while some are to be.
    since: Option<u32>,
    /// Since when nothing waits.
    idle: Option<Time>,
    /// How long a frame takes.
    frame: Duration,
}

impl Red {
    pub fn new(with: Parameters, rate_bps: u64, draws: Stream) -> Self {
        Self {
            with,
            draws,
            mean: 0.0,
            since: None,
            idle: Some(Time::ZERO),
            frame: sending(FRAME, (rate_bps / 8).max(1)).max(Duration::from_nanos(1)),
        }
    }

    /// Whether a packet is dropped that comes at `now`. One that finds no room is, whatever this says.
    pub fn drops<P>(
        &mut self,
        now: Time,
        line: &Line<P>,
        full: bool,
        item: &mut Item<P>,
        counters: &mut Counters,
    ) -> bool {
        match self.idle.take() {
            Some(idle) => {
                let looks = now.since(idle).as_nanos() as f64 / self.frame.as_nanos() as f64;
                self.mean *= (1.0 - self.with.weight).powf(looks.max(0.0));
            }
            None => self.mean += self.with.weight * (line.len() as f64 - self.mean),
        }
        if full {
            self.since = Some(0);
            return false;
        }
        let least = f64::from(self.with.least_packets);
        let most = f64::from(self.with.most_packets);
        if self.mean < least {
            self.since = None;
            return false;
        }
        let share = if self.mean < most {
            self.with.most * (self.mean - least) / (most - least)
        } else {
            self.with.most + (1.0 - self.with.most) * (self.mean - most) / most
        };
        let since = self.since.map_or(0, |since| since + 1);
        self.since = Some(since);
        let spread = 1.0 - f64::from(since) * share;
        let hit = share >= 1.0 || spread <= share || self.draws.uniform() < share / spread;
        if hit {
            self.since = Some(0);
        }
        hit && !(self.mean < most && item.mark(self.with.ecn, counters))
    }

    /// A packet has left at `now`.
    pub fn left<P>(&mut self, now: Time, line: &Line<P>) {
        if line.len() == 0 {
            self.idle = Some(now);
        }
    }
}
