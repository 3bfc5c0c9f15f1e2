//! The owners of a direction's instants, one after the other.

use rexmit_time::{Duration, Time};

use super::owner::Owner;
use super::Share;
use crate::requests::Spans;

/// Stretches remembered of one direction. Of more, the older half is only summed up: what is learned at the end changes no
/// owner among them.
const MOST: usize = 1 << 14;

/// A stretch of time is slow from here on: one that a person notices.
const SLOW: Duration = Duration::from_millis(200);

/// A stretch that ends at `to` and begins where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    to: Time,
    owner: Owner,
    by: By,
    /// What was waited for came: another wait follows, though it may be of the same owner.
    ended: bool,
}

/// Which of the two senders an owner of a direction's time held up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The direction's own, or both.
    Own,
    /// The other one, for which it waited.
    Other,
}

impl By {
    /// The direction's own sender, or the other.
    pub const fn own(own: bool) -> Self {
        if own {
            By::Own
        } else {
            By::Other
        }
    }
}

/// What is written over: from, to, and whose it becomes.
pub(super) type Cover = (Time, Time, Owner);

/// Every instant from a start on, with its owner.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// Where the first remembered stretch begins.
    start: Time,
    stretches: Vec<Stretch>,
    /// What was summed up before `start`.
    settled: Vec<Share>,
    /// Times of which it is wanted who has most of each.
    pub spans: Spans,
    /// Each stretch is a share of its own.
    pub apart: bool,
}

impl Timeline {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self, start: Time) {
        self.start = start;
        self.stretches.clear();
        self.settled.clear();
        self.spans.clear();
    }

    /// Where it ends so far.
    pub fn end(&self) -> Time {
        self.stretches.last().map_or(self.start, |last| last.to)
    }

    /// The time from its end to `to` belongs to `owner`; nothing does where the clock steps back.
    pub fn push(&mut self, to: Time, owner: Owner, by: By) {
        if to <= self.end() {
            return;
        }
        let ended = owner.is_silence();
        self.join(Stretch {
            to,
            owner,
            by,
            ended,
        });
        if self.stretches.len() >= MOST {
            self.settle(MOST / 2);
        }
    }

    /// As [`push`](Timeline::push), of what is known to come next.
    fn join(&mut self, next: Stretch) {
        match self.stretches.last_mut() {
            Some(last) if (last.owner, last.by, last.ended) == (next.owner, next.by, false) => {
                (last.to, last.ended) = (next.to, next.ended);
            }
            _ => self.stretches.push(next),
        }
    }

    fn settle(&mut self, count: usize) {
        let mut from = self.start;
        for stretch in self.stretches.drain(..count) {
            if self.apart {
                Share::add(&mut self.settled, from, stretch);
            } else {
                Share::count(&mut self.settled, from, stretch);
            }
            self.spans.stretch(from, stretch.to, stretch.owner);
            from = stretch.to;
        }
        self.start = from;
    }

    /// Writes `covers`, which are in order and apart, over what `may` be written over: all held up one sender.
    pub fn cover(&mut self, covers: &[Cover], by: By, may: impl Fn(Owner, Owner) -> bool) {
        if covers.is_empty() {
            return;
        }
        let old = core::mem::take(&mut self.stretches);
        let mut covers = covers.iter().peekable();
        let mut from = self.start;
        for stretch in old {
            while from < stretch.to {
                while covers.next_if(|cover| cover.1 <= from).is_some() {}
                let kept = (stretch.owner, stretch.by);
                let (to, (owner, by)) = match covers.peek() {
                    Some(&&(begin, end, owner)) if begin <= from => {
                        let over = may(stretch.owner, owner);
                        (end.min(stretch.to), if over { (owner, by) } else { kept })
                    }
                    Some(&&(begin, ..)) => (begin.min(stretch.to), kept),
                    None => (stretch.to, kept),
                };
                let ended = stretch.ended && to == stretch.to && owner.is_silence();
                self.join(Stretch {
                    to,
                    owner,
                    by,
                    ended,
                });
                from = to;
            }
        }
    }

    /// A repair that follows another is of its kind: the first retransmission of an episode says what found the loss. Behind a
    /// probe with which a turn ends the repair is over: nothing is known to be lost.
    pub fn name_repairs(&mut self, named: &[Cover], by: By) {
        let mut named = named.iter().peekable();
        let mut kind = None;
        for place in 0..self.stretches.len() {
            let ends_turn = self
                .stretches
                .get(place + 1)
                .is_none_or(|next| next.owner.is_turn());
            let stretch = &mut self.stretches[place];
            while let Some(&(.., owner)) = named.next_if(|one| one.1 <= stretch.to) {
                kind = Some(owner);
            }
            if !stretch.owner.is_recovery() {
                kind = None;
            } else if let Some(kind) = kind.filter(|_| stretch.by == by) {
                let probed = kind == Owner::RecoveryProbe && stretch.owner != kind;
                stretch.owner = if probed && ends_turn {
                    Owner::RoundTrip
                } else {
                    kind
                };
            }
        }
    }

    /// What each owner has, in the order of `Owner::ALL`; or each stretch, in the order of time.
    pub fn shares(&mut self) -> Vec<Share> {
        self.settled.reserve(8);
        self.settle(self.stretches.len());
        let mut shares = core::mem::take(&mut self.settled);
        if !self.apart {
            shares.sort_unstable_by_key(|share| share.owner);
        }
        shares
    }
}

impl Share {
    /// A stretch more, of its owner's share.
    fn count(shares: &mut Vec<Share>, from: Time, stretch: Stretch) {
        let same = |share: &&mut Share| share.owner == stretch.owner;
        match shares.iter_mut().find(same) {
            Some(share) => share.grow(from, stretch),
            None => Share::add(shares, from, stretch),
        }
    }

    /// A share more.
    fn add(shares: &mut Vec<Share>, from: Time, stretch: Stretch) {
        let mut share = Share {
            owner: stretch.owner,
            length: Duration::ZERO,
            other: Duration::ZERO,
            stretches: 0,
            slow: 0,
            slow_length: Duration::ZERO,
            slow_least: None,
            longest: Duration::ZERO,
            evidence: stretch.to,
        };
        share.grow(from, stretch);
        shares.push(share);
    }

    fn grow(&mut self, from: Time, Stretch { to, by, .. }: Stretch) {
        let length = to.since(from);
        self.length += length;
        if by == By::Other {
            self.other += length;
        }
        self.stretches = self.stretches.saturating_add(1);
        if length >= SLOW {
            self.slow = self.slow.saturating_add(1);
            self.slow_length += length;
            self.slow_least = Some(self.slow_least.map_or(length, |least| least.min(length)));
        }
        if length > self.longest {
            self.longest = length;
            self.evidence = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_stretch_is_remembered_with_the_packet_that_ended_the_longest() {
        let mut line = Timeline::default();
        line.begin(at(0));
        line.push(at(300), Owner::Server, By::Own);
        line.push(at(310), Owner::RoundTrip, By::Own);
        line.push(at(810), Owner::Server, By::Own);
        line.push(at(700), Owner::Client, By::Own);
        let shares = line.shares();
        assert_eq!(shares.len(), 2);
        let server = shares[0];
        assert_eq!(
            (server.owner, server.stretches, server.slow),
            (Owner::Server, 2, 2)
        );
        assert_eq!(server.length, Duration::from_millis(800));
        assert_eq!(server.slow_least, Some(Duration::from_millis(300)));
        assert_eq!(server.slow_length, Duration::from_millis(800));
        assert_eq!(
            (server.longest, server.evidence),
            (Duration::from_millis(500), at(810))
        );
    }

    #[test]
    fn a_line_has_its_stretches_one_by_one_if_that_is_asked_for() {
        let mut line = Timeline::default();
        line.begin(at(0));
        line.apart = true;
        line.push(at(300), Owner::Server, By::Own);
        line.push(at(310), Owner::RoundTrip, By::Own);
        line.push(at(330), Owner::Server, By::Other);
        let shares = line.shares();
        let stretches: Vec<_> = shares
            .iter()
            .map(|one| (one.owner, one.length, one.evidence))
            .collect();
        let ms = Duration::from_millis;
        let expected = [
            (Owner::Server, ms(300), at(300)),
            (Owner::RoundTrip, ms(10), at(310)),
            (Owner::Server, ms(20), at(330)),
        ];
        assert_eq!(stretches, expected);
    }

    #[test]
    fn what_is_learned_at_the_end_is_written_over() {
        let mut line = Timeline::default();
        line.begin(at(0));
        line.push(at(10), Owner::Connecting, By::Own);
        line.push(at(50), Owner::Sender, By::Own);
        line.push(at(60), Owner::RecoveryFast, By::Own);
        let timer = (at(5), at(50), Owner::RecoveryTimer);
        line.cover(&[timer], By::Own, |was, _| was != Owner::Connecting);
        line.name_repairs(&[timer], By::Own);
        let shares = line.shares();
        let told: Vec<_> = shares.iter().map(|one| (one.owner, one.length)).collect();
        let ms = Duration::from_millis;
        assert_eq!(
            told,
            [(Owner::Connecting, ms(10)), (Owner::RecoveryTimer, ms(50))]
        );
    }

    #[test]
    fn what_held_up_the_other_sender_is_counted_apart() {
        let mut line = Timeline::default();
        line.begin(at(0));
        line.push(at(10), Owner::Nagle, By::Own);
        line.push(at(40), Owner::Nagle, By::Other);
        line.push(at(100), Owner::SmallWindow, By::Own);
        line.cover(&[(at(50), at(70), Owner::Policer)], By::Other, |_, _| true);
        let told: Vec<_> = line
            .shares()
            .iter()
            .map(|one| (one.owner, one.length, one.other))
            .collect();
        let ms = Duration::from_millis;
        let expected = [
            (Owner::Nagle, ms(40), ms(30)),
            (Owner::SmallWindow, ms(40), ms(0)),
            (Owner::Policer, ms(20), ms(20)),
        ];
        assert_eq!(told, expected);
    }

    proptest! {
        /// Against a list of milliseconds.
        #[test]
        fn each_instant_keeps_one_owner(
            drafts in proptest::collection::vec((0u64..40, 0..Owner::ALL.len()), 0..60),
            covers in proptest::collection::vec((0u64..30, 0u64..30, 0..Owner::ALL.len()), 0..20),
        ) {
            let mut line = Timeline::default();
            line.begin(at(0));
            let mut plain = Vec::new();
            for (length, owner) in drafts {
                plain.extend((0..length).map(|_| Owner::ALL[owner]));
                line.push(at(plain.len() as u64), Owner::ALL[owner], By::Own);
            }
            let (mut list, mut now) = (Vec::new(), 0);
            for (gap, length, owner) in covers {
                let from = now + gap;
                now = from + length;
                list.push((at(from), at(now), Owner::ALL[owner]));
                for moment in from..now {
                    if let Some(one) = plain.get_mut(moment as usize) {
                        *one = Owner::ALL[owner];
                    }
                }
            }
            list.retain(|one| one.0 < one.1);
            line.cover(&list, By::Own, |_, _| true);
            for share in line.shares() {
                let own = plain.iter().filter(|owner| **owner == share.owner).count();
                prop_assert_eq!(share.length, Duration::from_millis(own as i64));
                plain.retain(|owner| *owner != share.owner);
            }
            prop_assert!(plain.is_empty());
        }
    }
}
