//! PIE (RFC 8033): packets are dropped as they come, with a probability that follows from how far the wait is from its target,
//! and from where it moves.

use rexmit_plan::Pie as Parameters;
use rexmit_time::{Duration, Stream, Time};

use super::{Counters, Item, Line};

/// Weights of the wait's distance from the target, and of its change, a second (RFC 8033 §4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// A burst that is let through (MAX_BURST).
const MOST_BURST: Duration = Duration::from_millis(150);
/// Bytes waiting of which nothing is dropped (twice MEAN_PKTSIZE, of full frames).
const LITTLE: u64 = 2 * 1514;
/// Probability up to which packets are marked in place of dropped (RFC 8033 §5.1).
const MOST_MARKED: f64 = 0.1;

/// PIE's state.
#[derive(Debug)]
pub(super) struct Pie {
    target: Duration,
    update: Duration,
    ecn: bool,
    draws: Stream,
    probability: f64,
    /// Probability gathered since the last drop (§5.4).
    gathered: f64,
    /// What is left of a burst.
    burst: Duration,
    /// How long the packet that left last waited, and the same an update before.
    wait: Duration,
    wait_before: Duration,
    /// When the probability is reckoned next; the first packet begins it.
    next: Option<Time>,
}

impl Pie {
    pub fn new(with: Parameters, draws: Stream) -> Self {
        Self {
            target: Duration::from_unsigned_nanos(with.target_ns),
            update: Duration::from_unsigned_nanos(with.update_ns),
            ecn: with.ecn,
            draws,
            probability: 0.0,
            gathered: 0.0,
            burst: MOST_BURST,
            wait: Duration::ZERO,
            wait_before: Duration::ZERO,
            next: None,
        }
    }

    /// Whether a packet is dropped that comes at `now` (RFC 8033 §4.1). One that finds no room is, whatever this says.
    pub fn drops<P>(
        &mut self,
        now: Time,
        line: &Line<P>,
        full: bool,
        item: &mut Item<P>,
        counters: &mut Counters,
    ) -> bool {
        self.go_to(now);
        if full || self.burst > Duration::ZERO {
            return false;
        }
        let short = self.wait_before < self.target / 2 && self.probability < 0.2;
        if short || line.bytes <= LITTLE || !self.hits() {
            return false;
        }
        !(self.probability <= MOST_MARKED && item.mark(self.ecn, counters))
    }

    /// Whether the next packet is hit: no two close to each other, and none long after (§5.4).
    fn hits(&mut self) -> bool {
        if self.probability == 0.0 {
            self.gathered = 0.0;
        }
        self.gathered += self.probability;
        if self.gathered < 0.85 {
            return false;
        }
        let hit = self.gathered >= 8.5 || self.draws.uniform() < self.probability;
        if hit {
            self.gathered = 0.0;
        }
        hit
    }

    /// A packet has left at `now` that had waited so long.
    pub fn left<P>(&mut self, now: Time, line: &Line<P>, wait: Duration) {
        self.go_to(now);
        self.wait = if line.len() == 0 {
            Duration::ZERO
        } else {
            wait
        };
    }

    /// Reckons the probability as often as is due until `now`.
    fn go_to(&mut self, now: Time) {
        let mut next = *self.next.get_or_insert(now + self.update);
        while next <= now {
            self.reckon();
            next += self.update;
            let calm = self.probability == 0.0 && self.wait == Duration::ZERO;
            if calm && self.wait_before == Duration::ZERO && self.burst == MOST_BURST {
                // Nothing changes any more.
                let updates = now.since(next).as_nanos() / self.update.as_nanos().max(1);
                next += self.update * updates.max(0);
            }
        }
        self.next = Some(next);
    }

    /// RFC 8033 §4.2 and §4.4.
    fn reckon(&mut self) {
        let seconds = |time: Duration| time.as_nanos() as f64 / 1e9;
        let (wait, before) = (seconds(self.wait), seconds(self.wait_before));
        let target = seconds(self.target);
        let mut change = ALPHA * (wait - target) + BETA * (wait - before);
        let scales = [
            (0.000_001, 2048.0),
            (0.000_01, 512.0),
            (0.000_1, 128.0),
            (0.001, 32.0),
            (0.01, 8.0),
            (0.1, 2.0),
        ];
        let scale = scales.iter().find(|(below, _)| self.probability < *below);
        change /= scale.map_or(1.0, |(_, by)| *by);
        if self.probability >= 0.1 {
            // §5.5.
            change = change.min(0.02);
        }
        self.probability += change;
        if wait == 0.0 && before == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let calm = wait < target / 2.0 && before < target / 2.0;
        self.burst = if self.probability == 0.0 && calm {
            MOST_BURST
        } else {
            (self.burst - self.update).max(Duration::ZERO)
        };
        self.wait_before = self.wait;
    }
}
