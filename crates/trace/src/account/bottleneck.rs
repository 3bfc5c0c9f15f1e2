//! How fast the slowest link of a path takes data, as it is seen while packets queue before it, and when it took them so.
//!
//! A link is busy as long as it passes what it can. A sender whose data arrive at that rate loses no time by a smaller window, a
//! loss, or its pacing: more in flight would only wait longer before the link.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::owner::Owner;
use super::timeline::Cover;

/// A rate is measured over so much, this part of the time before, so many of the shortest round trips, and so many segments, at
/// least: one more or less is a small part of it then.
const SPAN: Duration = Duration::from_millis(100);
const PART: i64 = 512;
const TRIPS: i64 = 2;
const SEGMENTS: i64 = 20;
/// As fast as the link: no further off than this part of its rate.
const NEAR: i64 = 10;
/// No longer part of a time in which packets queue passes without one.
const EVEN: i64 = 4;
/// A path on which nothing arrives for so long, while so many segments would have passed that were on their way beside those
/// that fill it, holds its packets back.
const STALL: Duration = Duration::from_millis(200);
const HELD: i64 = 8;
/// Spans and stalls that are remembered of a direction: a day's.
const MOST: usize = 1 << 12;

/// A time over which a rate is measured.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    /// From when all before `seq` had arrived.
    from: Time,
    seq: SeqNum,
    /// Packets queued all along; and when nothing was missing last.
    queued: bool,
    queues: bool,
    /// Something was missing.
    lossy: bool,
    /// Packets queued whenever something began to be missing, and for how long at most.
    filled: bool,
    queue: Duration,
    /// The longest time in which nothing was heard.
    gap: Duration,
}

impl Measurement {
    /// A queue was full when something was lost, and the link passed it on until that was repaired: what belongs to others in it may
    /// have passed between.
    fn drains(&self, trip: Duration) -> bool {
        self.lossy && self.filled && self.gap <= trip + self.queue
    }
}

/// How fast data passed, in bytes a second; `full`: by what queued, it was all that the link passes.
#[derive(Clone, Copy, Debug)]
struct Passed {
    from: Time,
    to: Time,
    rate: i64,
    full: bool,
}

/// What an acknowledgement tells of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSeen {
    pub at: Time,
    /// All before has arrived.
    pub ack: SeqNum,
    /// Nothing is missing before it, so that it tells when the last of that came.
    pub whole: bool,
    /// How long packets queue.
    pub queue: Option<Duration>,
    /// The shortest round trip, and the payload of a full packet.
    pub trip: Duration,
    pub segment: i64,
    /// Up to where data were sent, if the monitor stands beside their sender.
    pub sent: Option<SeqNum>,
}

/// The slowest link on the way of a direction.
#[derive(Debug, Default)]
pub(super) struct Bottleneck {
    /// Up to where all was acknowledged, when an acknowledgement came by first, and the newest.
    edge: Option<SeqNum>,
    since: Option<Time>,
    newest: Option<AckSeen>,
    span: Option<Measurement>,
    passed: Vec<Passed>,
    stalls: Vec<Cover>,
}

impl Bottleneck {
    /// Its sender has nothing in flight.
    pub fn rests(&mut self) {
        (self.newest, self.span) = (None, None);
    }

    /// An acknowledgement came by.
    #[inline]
    pub fn acked(&mut self, arrival: AckSeen) {
        let AckSeen { at, ack, .. } = arrival;
        let before = self.newest.replace(arrival);
        let gap = before.map_or(Duration::ZERO, |before| at.since(before.at));
        if let Some(span) = &mut self.span {
            span.gap = span.gap.max(gap);
        }
        if self.edge.is_some_and(|edge| !ack.is_after(edge)) {
            return;
        }
        self.edge = Some(ack);
        if let Some(before) = before {
            self.stalled(before, arrival);
        }
        let queued = arrival.queue.is_some();
        let begun = Measurement {
            from: at,
            seq: ack,
            queued,
            queues: queued,
            lossy: false,
            filled: true,
            queue: Duration::ZERO,
            gap: Duration::ZERO,
        };
        let Some(span) = &mut self.span else {
            self.span = Some(begun).filter(|_| arrival.whole);
            return;
        };
        span.queued &= queued;
        span.queue = span.queue.max(arrival.queue.unwrap_or(Duration::ZERO));
        if !arrival.whole {
            span.filled &= span.queues;
            span.lossy = true;
            return;
        }
        span.queues = queued;
        let since = *self.since.get_or_insert(at);
        let least = SPAN.max(arrival.trip * TRIPS).max(at.since(since) / PART);
        let (length, bytes) = (at.since(span.from), i64::from(ack.offset_from(span.seq)));
        if length < least || bytes < arrival.segment * SEGMENTS {
            return;
        }
        let span = core::mem::replace(span, begun);
        if self.passed.len() < MOST {
            let full = if span.lossy {
                span.drains(arrival.trip)
            } else {
                span.queued && span.gap * EVEN <= length
            };
            self.passed.push(Passed {
                from: span.from,
                to: at,
                rate: rate(bytes, length),
                full,
            });
        }
    }

    /// Nothing was heard between two acknowledgements. A flight that does not fill the path leaves such gaps by itself.
    fn stalled(&mut self, before: AckSeen, arrival: AckSeen) {
        let length = arrival.at.since(before.at);
        if length < STALL || self.stalls.len() == MOST {
            return;
        }
        let flight = arrival
            .sent
            .map(|sent| i64::from(sent.offset_from(before.ack)));
        let fastest = self.passed.iter().map(|passed| passed.rate).max();
        let held = |rate: i64| {
            let fills = flight.map_or(i64::MAX, |flight| flight - bytes(rate, arrival.trip));
            bytes(rate, length).min(fills) >= arrival.segment * HELD
        };
        if fastest.is_some_and(held) {
            self.stalls.push((before.at, arrival.at, Owner::RoundTrip));
        }
    }

    /// When the link passed all that it can: as much as when packets queued last, or next.
    pub fn busy(&self) -> Vec<Cover> {
        let full = |last: &mut Option<i64>, passed: &Passed| {
            *last = Some(passed.rate).filter(|_| passed.full).or(*last);
            Some(last.is_some_and(|full| (passed.rate - full).abs() * NEAR <= full))
        };
        let as_next: Vec<bool> = self.passed.iter().rev().scan(None, full).collect();
        let as_last = self.passed.iter().scan(None, full);
        let either = as_last.zip(as_next.into_iter().rev());
        let mut covers: Vec<Cover> = Vec::new();
        for (passed, _) in self
            .passed
            .iter()
            .zip(either)
            .filter(|(_, (last, next))| *last || *next)
        {
            match covers.last_mut() {
                Some(cover) if cover.1 == passed.from => cover.1 = passed.to,
                _ => covers.push((passed.from, passed.to, Owner::PathRate)),
            }
        }
        // What was never repaired.
        let last = self.span.zip(self.newest);
        if let Some((span, newest)) = last.filter(|(span, newest)| span.drains(newest.trip)) {
            covers.push((span.from, newest.at, Owner::PathRate));
        }
        covers
    }

    /// When nothing arrived, though packets were on their way.
    pub fn stalls(&self) -> &[Cover] {
        &self.stalls
    }
}

/// What passes in this time at so many bytes a second.
pub(super) fn bytes(a_second: i64, length: Duration) -> i64 {
    let second = i128::from(Duration::from_secs(1).as_nanos());
    i64::try_from(i128::from(a_second) * i128::from(length.as_nanos()) / second).unwrap_or(i64::MAX)
}

/// Bytes a second, of those that passed in this time.
pub(super) fn rate(bytes: i64, length: Duration) -> i64 {
    let second = i128::from(Duration::from_secs(1).as_nanos());
    i64::try_from(i128::from(bytes) * second / i128::from(length.as_nanos())).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: i64 = 1_000;

    /// Acknowledgements of a segment each, these milliseconds apart, of packets that queue for so many.
    fn acked(link: &mut Bottleneck, from_ms: u64, every_ms: u64, count: u64, queue_ms: i64) {
        for number in 1..=count {
            arrives(link, from_ms + number * every_ms, true, queue_ms);
        }
    }

    fn arrives(link: &mut Bottleneck, ms: u64, whole: bool, queue_ms: i64) {
        let ack = link.edge.unwrap_or_default() + SEGMENT as u32;
        again(link, ms, ack, whole, queue_ms);
    }

    fn again(link: &mut Bottleneck, ms: u64, ack: SeqNum, whole: bool, queue_ms: i64) {
        link.acked(AckSeen {
            at: at(ms),
            ack,
            whole,
            queue: (queue_ms > 0).then(|| Duration::from_millis(queue_ms)),
            trip: Duration::from_millis(20),
            segment: SEGMENT,
            sent: Some(ack + if queue_ms > 0 { 20_000 } else { 3_000 }),
        });
    }

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn length(covers: &[Cover]) -> i64 {
        let lengths = covers
            .iter()
            .map(|(from, to, _)| to.since(*from).as_nanos());
        lengths.sum::<i64>() / 1_000_000
    }

    #[test]
    fn a_link_is_busy_as_long_as_it_passes_what_it_passed_with_a_queue() {
        let mut link = Bottleneck::default();
        acked(&mut link, 0, 5, 100, 0);
        assert!(link.busy().is_empty(), "nothing queued");
        acked(&mut link, 500, 5, 40, 30);
        acked(&mut link, 700, 5, 100, 0);
        assert!(length(&link.busy()) >= 1_000, "before and after the queue");
        acked(&mut link, 1_200, 10, 100, 0);
        assert!(length(&link.busy()) < 1_400, "half as fast");
    }

    #[test]
    fn a_repair_costs_nothing_while_a_queue_drains() {
        for (silence, queue_ms, busy) in [(5, 30, true), (300, 30, false), (5, 0, false)] {
            let mut link = Bottleneck::default();
            acked(&mut link, 0, 5, 1, queue_ms);
            let lost = link.edge.unwrap_or_default();
            for number in 0..40u64 {
                again(&mut link, 5 + silence + number * 5, lost, false, queue_ms);
            }
            arrives(&mut link, 205 + silence, false, 0);
            assert_eq!(length(&link.busy()) > 0, busy, "not repaired yet");
            again(&mut link, 210 + silence, lost + 40_000, true, 0);
            assert_eq!(
                length(&link.busy()) > 0,
                busy,
                "{silence} ms, {queue_ms} ms"
            );
        }
    }

    #[test]
    fn a_path_that_holds_all_packets_back_is_no_full_link() {
        let mut link = Bottleneck::default();
        acked(&mut link, 0, 5, 60, 30);
        acked(&mut link, 800, 1, 60, 30);
        assert_eq!(link.stalls().len(), 1);
        assert_eq!(length(link.stalls()), 501);
        link.rests();
        acked(&mut link, 3_000, 5, 60, 30);
        assert_eq!(link.stalls().len(), 1, "nothing was to be sent");
        acked(&mut link, 4_000, 5, 60, 0);
        assert_eq!(link.stalls().len(), 1, "too little to fill the path");
    }
}
