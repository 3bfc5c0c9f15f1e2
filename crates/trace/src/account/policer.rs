//! A token bucket on the path, by what its losses tell (Flach et al., *An Internet-wide analysis of traffic policing*, SIGCOMM
//! 2016, §3): it takes a burst, then as much as a constant rate lets through, and drops what is more without a queue.
//!
//! A bucket is empty whenever it drops. So what passed between any two losses is the time between them at one rate, however
//! fast the sender was meanwhile; and there was a burst that passed faster. A link with a short queue loses periodically as
//! well, but nothing passes it faster than it is.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

/// Losses that show a rate, at least: of so many by chance some are far from the line.
const LEAST: usize = 6;
/// Losses that are remembered.
const MOST: usize = 256;
/// Of the losses, the part that is on the line, and before which nothing queued, at least, in tenths.
const PART: usize = 8;
/// How far from the line a loss is on it: this part of what passes between two, and so many full segments.
const NEAR: i64 = 6;
const SEGMENTS: i64 = 4;
/// A burst is measured over so much.
const BURST: i64 = 16_000;
/// A burst passed so many times as fast as the rate.
const FASTER: i64 = 2;

/// What is known of the losses of a direction.
#[derive(Debug, Default)]
pub(super) struct Policer {
    /// Up to where all was acknowledged, and since when.
    edge: Option<(Time, SeqNum)>,
    /// Where and when a burst began that is being measured.
    burst: Option<(Time, SeqNum)>,
    /// The fastest burst, in bytes a second.
    fastest: i64,
    /// When each episode's first loss was, as acknowledgements show it, and how much had passed since the first.
    losses: Vec<(Time, i64)>,
    first: SeqNum,
    /// How many of them a queue came before.
    queued: usize,
}

impl Policer {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        let mut losses = core::mem::take(&mut self.losses);
        losses.clear();
        *self = Policer {
            losses,
            ..Policer::default()
        };
    }

    /// All below `ack` has arrived. `whole`: nothing was missing below it, so that it tells when the last of that came.
    #[inline]
    pub fn acked(&mut self, at: Time, ack: SeqNum, whole: bool) {
        if self.edge.is_some_and(|(_, edge)| !ack.is_after(edge)) {
            return;
        }
        self.edge = Some((at, ack));
        let begun = self.burst.filter(|_| whole);
        let Some((since, from)) = begun else {
            self.burst = Some((at, ack));
            return;
        };
        let passed = i64::from(ack.offset_from(from));
        if passed >= BURST {
            let length = at.since(since).as_nanos().max(1);
            self.fastest = self.fastest.max(rate(passed, length));
            self.burst = Some((at, ack));
        }
    }

    /// Something was lost, for the first time since all was repaired.
    pub fn loses(&mut self, queued: bool) {
        let Some((at, edge)) = self.edge else { return };
        if self.losses.is_empty() {
            self.first = edge;
        }
        let passed = i64::from(edge.offset_from(self.first));
        let on = self
            .losses
            .last()
            .is_none_or(|last| last.0 < at && last.1 < passed);
        if self.losses.len() < MOST && (self.losses.is_empty() || on) {
            self.losses.push((at, passed));
            self.queued += usize::from(queued);
        }
    }

    /// Since when a bucket held the sender up, if one did.
    pub fn found(&self, mss: u32) -> Option<Time> {
        let [first, .., last] = *self.losses.as_slice() else {
            return None;
        };
        let (count, length) = (self.losses.len(), last.0.since(first.0).as_nanos());
        if count < LEAST || length <= 0 || self.queued * 10 > count * (10 - PART) {
            return None;
        }
        let near = (last.1 / (count as i64 - 1) / NEAR).max(i64::from(mss) * SEGMENTS);
        let on_line = |loss: &&(Time, i64)| {
            let part = i128::from(last.1) * i128::from(loss.0.since(first.0).as_nanos());
            (i128::from(loss.1) - part / i128::from(length)).abs() <= i128::from(near)
        };
        let on = self.losses.iter().filter(on_line).count();
        let fast = self.fastest >= rate(last.1, length) * FASTER;
        (fast && on * 10 >= count * PART).then_some(first.0)
    }
}

/// Bytes a second.
fn rate(bytes: i64, nanos: i64) -> i64 {
    let second = i128::from(Duration::from_secs(1).as_nanos());
    i64::try_from(i128::from(bytes) * second / i128::from(nanos)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_000;

    /// Losses at these milliseconds and thousands of bytes, after a burst of 64 kB in 32 ms.
    fn of(losses: &[(u64, u32)], burst_ms: u64) -> Policer {
        let mut policer = Policer::default();
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        for kb in 0..=64 {
            let ms = u64::from(kb) * burst_ms / 64;
            policer.acked(at(ms), SeqNum::new(kb * 1_000), true);
        }
        for &(ms, kb) in losses {
            policer.acked(at(100 + ms), SeqNum::new((64 + kb) * 1_000), false);
            policer.loses(false);
        }
        policer
    }

    /// At 500 kB a second, however far apart.
    const ON_LINE: [(u64, u32); 8] = [
        (1, 1),
        (201, 101),
        (301, 151),
        (901, 451),
        (1_001, 501),
        (1_601, 801),
        (1_701, 851),
        (2_001, 1_001),
    ];

    #[test]
    fn losses_at_one_rate_after_a_faster_burst_are_a_buckets() {
        let since = Some(Time::from_nanos(101_000_000));
        assert_eq!(of(&ON_LINE, 32).found(MSS), since);
        // One of eight may be off the line.
        let mut off = ON_LINE;
        off[3].1 = 600;
        assert_eq!(of(&off, 32).found(MSS), since);
        off[4].1 = 650;
        assert_eq!(of(&off, 32).found(MSS), None);
    }

    #[test]
    fn losses_without_one_of_the_signs_are_not() {
        assert_eq!(of(&ON_LINE[..5], 32).found(MSS), None, "few");
        assert_eq!(of(&ON_LINE, 100).found(MSS), None, "no burst");
        let mut queued = of(&ON_LINE, 32);
        queued.queued = 2;
        assert_eq!(queued.found(MSS), None, "a queue before them");
        queued.queued = 1;
        assert!(queued.found(MSS).is_some());
        assert_eq!(Policer::default().found(MSS), None);
    }

    #[test]
    fn what_arrives_at_once_when_a_hole_is_filled_is_no_burst() {
        let mut policer = of(&ON_LINE, 100);
        let at = |us: u64| Time::from_nanos(2_200_000_000 + us * 1_000);
        policer.acked(at(0), SeqNum::new(1_066_000), true);
        policer.acked(at(1), SeqNum::new(1_200_000), false);
        assert_eq!(policer.found(MSS), None);
        policer.acked(at(2), SeqNum::new(1_300_000), true);
        assert!(policer.found(MSS).is_some());
    }
}
