//! A token bucket on the path, by what its losses tell (Flach et al., *An Internet-wide analysis of traffic policing*, SIGCOMM
//! 2016, §3): it takes a burst, then as much as a constant rate lets through, and drops what is more without a queue.
//!
//! A bucket is empty whenever it drops. So what passed between any two losses is the time between them at one rate, however
//! fast the sender was meanwhile; and there was a burst that passed faster. A link with a short queue loses periodically as
//! well, but nothing passes it faster than it is.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::bottleneck::{bytes, rate};

/// Losses that show a rate, at least: of so many by chance some are far from the line. A bucket that is empty drops some of what
/// comes until the sender hears of it: so many segments each time, on average.
const LEAST: usize = 6;
const EACH: i64 = 2;
/// Of a bucket that cut off so many full segments of two bursts, fewer show it; and three, or as few of which one was cut off so, if
/// chance brings all as near to the line in less than one connection of so many.
const FEW: usize = 4;
const CUT: i64 = 16;
const CHANCE: f64 = 50.0;
/// Losses that are remembered.
const MOST: usize = 256;
/// Of the losses, the part that is on the line, at least, in tenths.
const PART: usize = 8;
/// Of the losses, the part before which no more than `SEGMENTS` queued, at least: two of so many.
const NO_QUEUE: usize = 3;
/// How far from the line a loss is on it: this part of what passes between two, or so many full segments; of three, the latter.
const NEAR: i64 = 6;
const SEGMENTS: i64 = 4;
/// A burst is measured over so much, of the initial window of which every connection may send at once (RFC 6928: ten segments).
const BURST: i64 = 10_000;
/// In so many acknowledgements, at most.
const ACKS: usize = 32;
/// What passes in less time may have been held up, and come at once.
const SPAN: Duration = Duration::from_millis(20);
/// A burst passed so many times as fast as the rate.
const FASTER: i64 = 2;

/// What is known of the losses of a direction.
#[derive(Debug, Default)]
pub(super) struct Policer {
    /// Up to where all was acknowledged, and since when.
    edge: Option<(Time, SeqNum)>,
    /// The newest that arrived, as far as a burst is measured.
    burst: VecDeque<(Time, SeqNum)>,
    /// The fastest burst, in bytes a second.
    fastest: i64,
    /// One that arrived, and what has passed fastest since the last loss, in bytes a second, over the time that packets queued.
    mark: Option<(Time, SeqNum)>,
    steady: i64,
    /// The first of each episode.
    losses: Vec<Loss>,
    first: SeqNum,
}

/// A loss, after which more were lost before it was repaired.
#[derive(Clone, Copy, Debug)]
struct Loss {
    /// When it was, as acknowledgements show it, and how much had passed since the first.
    at: Time,
    passed: i64,
    /// How long packets had queued before, and how fast they passed over such a time, in bytes a second.
    queue: Duration,
    steady: i64,
    /// Bytes that were sent again.
    again: i64,
}

impl Policer {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        let mut losses = core::mem::take(&mut self.losses);
        losses.clear();
        let mut burst = core::mem::take(&mut self.burst);
        burst.clear();
        *self = Policer {
            losses,
            burst,
            ..Policer::default()
        };
    }

    /// Up to where all was acknowledged.
    pub fn acked_to(&self) -> Option<SeqNum> {
        self.edge.map(|(_, edge)| edge)
    }

    /// All below `ack` has arrived. `whole`: nothing was missing below it, so that it tells when the last of that came. Packets
    /// queue so long at present.
    #[inline]
    pub fn acked(&mut self, at: Time, ack: SeqNum, whole: bool, queue: Duration) {
        if self.edge.is_some_and(|(_, edge)| !ack.is_after(edge)) {
            return;
        }
        self.edge = Some((at, ack));
        if !whole {
            self.burst.clear();
            self.mark = None;
        }
        let from = *self.mark.get_or_insert((at, ack));
        let length = at.since(from.0);
        if length >= queue.max(SPAN) {
            let passed = i64::from(ack.offset_from(from.1));
            self.steady = self.steady.max(rate(passed, length));
            self.mark = Some((at, ack));
        }
        self.burst.push_back((at, ack));
        let passed = |from: &(Time, SeqNum)| i64::from(ack.offset_from(from.1));
        let more = |next: &(Time, SeqNum)| passed(next) >= BURST;
        while self.burst.len() > ACKS || self.burst.get(1).is_some_and(more) {
            self.burst.pop_front();
        }
        if let Some(from) = self.burst.front().filter(|from| passed(from) >= BURST) {
            let length = at.since(from.0).max(Duration::from_nanos(1));
            self.fastest = self.fastest.max(rate(passed(from), length));
        }
    }

    /// Something was lost, for the first time since all was repaired; packets had queued so long.
    pub fn loses(&mut self, queue: Duration) {
        let Some((at, edge)) = self.edge else { return };
        if self.losses.is_empty() {
            self.first = edge;
        }
        let passed = i64::from(edge.offset_from(self.first));
        let on = self
            .losses
            .last()
            .is_none_or(|last| last.at < at && last.passed < passed);
        if self.losses.len() < MOST && on {
            self.losses.push(Loss {
                at,
                passed,
                queue,
                steady: core::mem::take(&mut self.steady),
                again: 0,
            });
        }
    }

    /// So much was sent again.
    pub fn again(&mut self, len: u32) {
        if let Some(last) = self.losses.last_mut() {
            last.again += i64::from(len);
        }
    }

    /// Since when a bucket held the sender up, if one did.
    pub fn found(&self, mss: u32) -> Option<Time> {
        let [first, .., last] = *self.losses.as_slice() else {
            return None;
        };
        let (count, mss) = (self.losses.len(), i64::from(mss));
        let length = last.at.since(first.at);
        let of =
            |test: &dyn Fn(&Loss) -> bool| self.losses.iter().filter(|loss| test(loss)).count();
        let segments = mss * SEGMENTS;
        let off = |loss: &Loss| {
            let part = i128::from(last.passed) * i128::from(loss.at.since(first.at).as_nanos());
            (i128::from(loss.passed) - part / i128::from(length.as_nanos().max(1))).abs()
        };
        let farthest = self.losses.iter().map(off).max().unwrap_or(0);
        let again: i64 = self.losses.iter().map(|loss| loss.again).sum();
        // On both sides of the line.
        let near_part = 2.0 * farthest.max(segments.into()) as f64 / last.passed.max(1) as f64;
        let by_chance = near_part.powi(count as i32 - 2) * CHANCE >= 1.0;
        let enough = match of(&|loss| loss.again >= CUT * mss) {
            0 => count >= LEAST && again >= EACH * mss * count as i64,
            1 => count >= LEAST || count >= FEW && !by_chance,
            _ => count >= FEW || count == FEW - 1 && !by_chance,
        };
        if !enough || length <= Duration::ZERO {
            return None;
        }
        let a_second = rate(last.passed, length);
        // What a bucket lets wait until it has filled up for it is no queue; nor is one that drained faster than the rate, of a
        // link before it.
        let queue =
            |loss: &Loss| bytes(a_second, loss.queue) > segments && loss.steady < a_second * FASTER;
        let part = last.passed / (count as i64 - 1) / NEAR;
        let near = if count < FEW {
            segments
        } else {
            part.max(segments)
        };
        let on_line = |loss: &Loss| off(loss) <= near.into();
        let fast = self.fastest >= a_second * FASTER;
        let found = fast && of(&queue) * NO_QUEUE <= count && of(&on_line) * 10 >= count * PART;
        found.then_some(first.at)
    }
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
            policer.acked(at(ms), SeqNum::new(kb * 1_000), true, Duration::ZERO);
        }
        for &(ms, kb) in losses {
            policer.acked(
                at(100 + ms),
                SeqNum::new((64 + kb) * 1_000),
                false,
                Duration::ZERO,
            );
            policer.loses(Duration::ZERO);
            policer.again(2 * MSS);
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
        let mut single = of(&ON_LINE, 32);
        single.losses[0].again = 1_000;
        assert_eq!(single.found(MSS), None, "single segments");
        let mut queued = of(&ON_LINE, 32);
        // Nine segments at 500 kB a second.
        let of = |queued: &mut Policer, number: usize, ms: i64| {
            queued.losses[..number]
                .iter_mut()
                .for_each(|loss| loss.queue = Duration::from_millis(ms));
        };
        // Before the first the burst passed.
        of(&mut queued, 4, 18);
        assert_eq!(queued.found(MSS), None, "a queue before them");
        of(&mut queued, 2, 0);
        assert!(queued.found(MSS).is_some());
        // A packet or two wait in the bucket.
        of(&mut queued, 8, 4);
        assert!(queued.found(MSS).is_some());
        assert_eq!(Policer::default().found(MSS), None);
    }

    #[test]
    fn few_losses_are_a_buckets_if_it_cut_off_bursts() {
        let mut few = of(&ON_LINE[..5], 32);
        few.losses[0].again = 40_000;
        assert!(few.found(MSS).is_some(), "all on the line");
        few.losses[2].passed += 20_000;
        few.losses[3].passed -= 20_000;
        assert!(few.found(MSS).is_some(), "near by no chance");
        few.losses[2].passed += 50_000;
        assert_eq!(few.found(MSS), None, "one burst");
        few.losses[1].again = 16_000;
        assert!(few.found(MSS).is_some());
        assert_eq!(of(&ON_LINE[..5], 32).found(MSS), None, "none");
    }

    #[test]
    fn a_queue_that_drains_faster_is_anothers() {
        // 40 kB pass in so many milliseconds, as many again as packets queued for.
        for (ms, found) in [(20u32, true), (80, false)] {
            let mut policer = of(&ON_LINE, 32);
            let queue = Duration::from_millis(i64::from(ms / 2));
            for number in 0..5 {
                let begun = 100 + number * 200;
                let first = 1_025 + (begun + ms) / 2;
                for step in 0..=2 {
                    let then = 2_101 + u64::from(begun + step * ms / 2);
                    let seq = SeqNum::new((first + step * 20) * 1_000);
                    policer.acked(Time::from_nanos(then * 1_000_000), seq, step > 0, queue);
                }
                policer.loses(queue);
                policer.again(2 * MSS);
            }
            assert_eq!(policer.found(MSS).is_some(), found);
        }
    }

    #[test]
    fn three_are_if_the_second_is_as_near_by_no_chance() {
        let cut = |losses: &[(u64, u32)]| {
            let mut few = of(losses, 32);
            let lost = few.losses.iter_mut();
            lost.for_each(|loss| loss.again = 16_000);
            few.found(MSS).is_some()
        };
        assert!(cut(&[(1, 1), (3_001, 1_504), (10_001, 5_001)]));
        assert!(
            !cut(&[(1, 1), (3_001, 1_506), (10_001, 5_001)]),
            "off the line"
        );
        assert!(!cut(&[(1, 1), (301, 151), (601, 301)]), "by chance");
        assert!(!cut(&[(1, 1), (10_001, 5_001)]), "two are always on one");
    }

    #[test]
    fn a_burst_is_no_longer_than_the_initial_window() {
        let mut policer = of(&ON_LINE, 100);
        let at = |us: u64| Time::from_nanos(2_200_000_000 + us * 1_000);
        for (number, end) in [1_066u32, 1_068, 1_071, 1_074, 1_078]
            .into_iter()
            .enumerate()
        {
            assert_eq!(policer.found(MSS), None);
            policer.acked(
                at(number as u64),
                SeqNum::new(end * 1_000),
                true,
                Duration::ZERO,
            );
        }
        assert!(policer.found(MSS).is_some());
    }

    #[test]
    fn what_arrives_at_once_when_a_hole_is_filled_is_no_burst() {
        let mut policer = of(&ON_LINE, 100);
        let at = |us: u64| Time::from_nanos(2_200_000_000 + us * 1_000);
        policer.acked(at(0), SeqNum::new(1_066_000), true, Duration::ZERO);
        policer.acked(at(1), SeqNum::new(1_200_000), false, Duration::ZERO);
        assert_eq!(policer.found(MSS), None);
        policer.acked(at(2), SeqNum::new(1_300_000), true, Duration::ZERO);
        assert!(policer.found(MSS).is_some());
    }
}
