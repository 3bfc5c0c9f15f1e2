//! What the sender saw, held back for a while: later packets tell what was sent in between and never came by.

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::SeqRange;

use crate::event::{SenderEvent, Sent, SentKind};

/// Events held back at most.
const MOST: usize = 256;
/// Places of missing packets that are remembered.
const MOST_HOLES: usize = 64;

/// Packets that were missing right before one that came by, by the sender's count.
#[derive(Clone, Copy, Debug)]
struct Hole {
    /// The number of the event of the packet that came by.
    before: u64,
    missing: u32,
}

/// The newest events, in the sender's order.
#[derive(Debug, Default)]
pub(super) struct Held {
    events: VecDeque<SenderEvent>,
    /// The number of the first of them, counted from 0 since the beginning.
    first: u64,
    /// What is before the event of this number has its place.
    settled: u64,
    /// Where packets are missing since something new came by.
    holes: VecDeque<Hole>,
    /// Packets missing before the next one of which the numbers are known.
    ahead: u32,
}

impl Held {
    /// Nothing held; events go into `recycled`.
    pub(super) fn within(recycled: VecDeque<SenderEvent>) -> Self {
        Held {
            events: recycled,
            ..Held::default()
        }
    }

    /// Its collection.
    pub(super) fn leave(self) -> VecDeque<SenderEvent> {
        self.events
    }

    pub(super) fn push(&mut self, event: SenderEvent) {
        self.events.push_back(event);
    }

    /// The oldest, where nothing can come before what follows it any more, or there are too many.
    pub(super) fn due(&mut self) -> Option<SenderEvent> {
        if self.first < self.settled || self.events.len() > MOST {
            self.pop()
        } else {
            None
        }
    }

    /// The oldest.
    pub(super) fn pop(&mut self) -> Option<SenderEvent> {
        let event = self.events.pop_front()?;
        self.first += 1;
        Some(event)
    }

    /// `missing` packets left before the one whose event comes next.
    pub(super) fn note_missing(&mut self, missing: u32) {
        let missing = missing.saturating_sub(core::mem::take(&mut self.ahead));
        if missing == 0 {
            return;
        }
        if self.holes.len() == MOST_HOLES {
            self.holes.pop_front();
        }
        self.holes.push_back(Hole {
            before: self.first + self.events.len() as u64,
            missing,
        });
    }

    /// So many of those that are missing before the next packet were told already.
    pub(super) fn found_ahead(&mut self, packets: u32) {
        self.ahead = packets;
    }

    /// How many are missing right before the event that comes next.
    pub(super) fn missing_here(&self) -> u32 {
        let next = self.first + self.events.len() as u64;
        let here = self.holes.back().filter(|hole| hole.before == next);
        here.map_or(0, |hole| hole.missing)
    }

    /// One of those that were missing came by late.
    pub(super) fn came_late(&mut self, packets: u32) {
        let mut left = packets;
        for hole in self.holes.iter_mut().rev() {
            let of_it = left.min(hole.missing);
            hole.missing -= of_it;
            left -= of_it;
        }
    }

    /// Something new came by: what is missing before it has no higher numbers.
    pub(super) fn forget_holes(&mut self) {
        self.holes.clear();
        self.settled = self.first + self.events.len() as u64;
    }

    /// `ranges`, new numbers in their order that never came by, left where packets are missing, oldest first. False where
    /// the count tells of too few, or where all of them are missing right before the next event. That one they left with, unless
    /// it is a bare acknowledgement: data that leave when it is due bear it themselves (`tcp_data_snd_check` comes before
    /// `tcp_ack_snd_check`).
    pub(super) fn place(&mut self, ranges: &[SeqRange], like: &Sent, bare: bool) -> bool {
        let all: u32 = self.holes.iter().map(|hole| hole.missing).sum();
        let here = self.missing_here() as usize;
        if (all as usize) < ranges.len() || (here >= ranges.len() && !bare) {
            return false;
        }
        let mut ranges = ranges;
        let mut added = 0;
        for hole in core::mem::take(&mut self.holes) {
            let count = (hole.missing as usize).min(ranges.len());
            let (these, rest) = ranges.split_at(count);
            ranges = rest;
            let before = (hole.before + added).saturating_sub(self.first) as usize;
            added += these.len() as u64;
            let at = before.min(self.events.len());
            if let Some(SenderEvent::Sent(sent)) = self.events.get_mut(at) {
                sent.missing = Some(hole.missing - count as u32);
            }
            self.insert(at, these, like, bare && at == self.events.len());
        }
        true
    }

    /// Puts them before the event at `before`: each acknowledgement since the packet before it let go its share. `bare`: what came
    /// last let go a bare acknowledgement.
    fn insert(&mut self, before: usize, ranges: &[SeqRange], like: &Sent, bare: bool) {
        let is_ack = |event: &SenderEvent| matches!(event, SenderEvent::Acked(_));
        let acks = self.events.range(..before).rev();
        let acks = acks.take_while(|event| is_ack(event)).count();
        let (before, acks) = match (bare, acks) {
            (true, 2..) => (before - 1, acks - 1),
            _ => (before, acks),
        };
        let sent = |range: SeqRange, at: Time| {
            SenderEvent::Sent(Sent {
                at,
                range,
                kind: SentKind::Unseen,
                counted: true,
                ..*like
            })
        };
        let mut done = 0;
        for share in 0..acks.max(1) {
            let until = ranges.len() * (share + 1) / acks.max(1);
            let place = before - acks + done + (share + 1).min(acks);
            let at = match place.checked_sub(1).and_then(|i| self.events.get(i)) {
                Some(SenderEvent::Acked(acked)) => acked.at,
                Some(SenderEvent::Sent(sent)) => sent.at,
                None => like.at,
            };
            for (i, range) in ranges[done..until].iter().enumerate() {
                self.events.insert(place + i, sent(*range, at));
            }
            done = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::SeqNum;

    use super::*;
    use crate::testing;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn range(segment: u32) -> SeqRange {
        SeqRange::new(SeqNum::new(segment * 1000), 1000)
    }

    fn sent(ms: u64, segment: u32, kind: SentKind) -> Sent {
        testing::sent(at(ms), range(segment), kind)
    }

    fn acked(ms: u64, segment: u32) -> SenderEvent {
        SenderEvent::Acked(testing::acked(at(ms), SeqNum::new(segment * 1000)))
    }

    /// Two segments and their acknowledgements, a wait, then the second again; so many packets are missing before that.
    fn after_a_wait(missing: u32) -> Held {
        let mut held = Held::default();
        held.push(SenderEvent::Sent(sent(0, 0, SentKind::New)));
        held.push(SenderEvent::Sent(sent(1, 1, SentKind::New)));
        held.forget_holes();
        held.push(acked(100, 0));
        held.push(acked(101, 1));
        held.note_missing(missing);
        held.push(SenderEvent::Sent(sent(400, 1, SentKind::Retransmission(0))));
        held.push(acked(500, 2));
        held
    }

    fn drained(mut held: Held) -> Vec<(u64, u32, bool)> {
        let events = core::iter::from_fn(|| held.pop());
        let sent = events.filter_map(|event| match event {
            SenderEvent::Sent(sent) => Some(sent),
            SenderEvent::Acked(_) => None,
        });
        let line = |s: Sent| {
            (
                s.at.as_nanos() / 1_000_000,
                s.range.start.get() / 1000,
                s.kind == SentKind::Unseen,
            )
        };
        sent.map(line).collect()
    }

    #[test]
    fn what_was_lost_before_a_wait_is_told_before_it() {
        let mut held = after_a_wait(5);
        let ranges: Vec<_> = (2..6).map(range).collect();
        assert!(held.place(&ranges, &sent(501, 0, SentKind::Unseen), false));
        if let Some(SenderEvent::Sent(again)) = held.events.get(8) {
            assert_eq!(again.missing, Some(1), "a timer's packet was lost, too");
        }
        let lines = drained(held);
        assert_eq!(
            lines,
            [
                (0, 0, false),
                (1, 1, false),
                (100, 2, true),
                (100, 3, true),
                (101, 4, true),
                (101, 5, true),
                (400, 1, false),
            ]
        );
    }

    #[test]
    fn what_is_missing_right_here_left_now() {
        let mut held = after_a_wait(0);
        held.note_missing(2);
        let ranges: Vec<_> = (2..4).map(range).collect();
        assert!(!held.place(&ranges, &sent(501, 0, SentKind::Unseen), false));
        let mut held = after_a_wait(1);
        assert!(
            !held.place(&ranges, &sent(501, 0, SentKind::Unseen), false),
            "too few are missing"
        );
        assert_eq!(held.missing_here(), 0);
    }

    #[test]
    fn what_is_missing_before_a_bare_acknowledgement_left_before_it() {
        let mut held = Held::default();
        held.push(SenderEvent::Sent(sent(0, 1, SentKind::New)));
        held.forget_holes();
        held.push(acked(100, 2));
        held.push(acked(400, 2));
        held.note_missing(2);
        let ranges: Vec<_> = (2..4).map(range).collect();
        assert!(held.place(&ranges, &sent(401, 0, SentKind::Unseen), true));
        let expected = [(0, 1, false), (100, 2, true), (100, 3, true)];
        assert_eq!(drained(held), expected);
    }

    #[test]
    fn nothing_is_held_that_has_its_place() {
        let mut held = after_a_wait(1);
        let due = core::iter::from_fn(|| held.due()).count();
        assert_eq!(due, 2);
        (0..600).for_each(|i| held.push(acked(600 + i, 2)));
        let due = core::iter::from_fn(|| held.due()).count();
        assert_eq!(due, 604 - MOST);
    }
}
