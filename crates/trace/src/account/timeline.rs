//! The owners of a direction's instants, one after the other.

use rexmit_time::{Duration, Time};

use super::owner::Owner;
use super::Share;

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
}

impl Timeline {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self, start: Time) {
        self.start = start;
        self.stretches.clear();
        self.settled.clear();
    }

    /// Where it ends so far.
    pub fn end(&self) -> Time {
        self.stretches.last().map_or(self.start, |last| last.to)
    }

    /// The time from its end to `to` belongs to `owner`; nothing does where the clock steps back.
    pub fn push(&mut self, to: Time, owner: Owner) {
        if to <= self.end() {
            return;
        }
        self.join(to, owner);
        if self.stretches.len() >= MOST {
            self.settle(MOST / 2);
        }
    }

    /// As [`push`](Timeline::push), of what is known to come next.
    fn join(&mut self, to: Time, owner: Owner) {
        match self.stretches.last_mut() {
            Some(last) if last.owner == owner => last.to = to,
            _ => self.stretches.push(Stretch { to, owner }),
        }
    }

    fn settle(&mut self, count: usize) {
        let mut from = self.start;
        for stretch in self.stretches.drain(..count) {
            Share::count(&mut self.settled, from, stretch.to, stretch.owner);
            from = stretch.to;
        }
        self.start = from;
    }

    /// Writes `covers`, which are in order and apart, over what `may` be written over.
    pub fn cover(&mut self, covers: &[Cover], may: impl Fn(Owner, Owner) -> bool) {
        if covers.is_empty() {
            return;
        }
        let old = core::mem::take(&mut self.stretches);
        let mut covers = covers.iter().peekable();
        let mut from = self.start;
        for stretch in old {
            while from < stretch.to {
                while covers.next_if(|cover| cover.1 <= from).is_some() {}
                let (to, owner) = match covers.peek() {
                    Some(&&(begin, end, owner)) if begin <= from => {
                        let owner = if may(stretch.owner, owner) {
                            owner
                        } else {
                            stretch.owner
                        };
                        (end.min(stretch.to), owner)
                    }
                    Some(&&(begin, ..)) => (begin.min(stretch.to), stretch.owner),
                    None => (stretch.to, stretch.owner),
                };
                self.join(to, owner);
                from = to;
            }
        }
    }

    /// A repair that follows another is of its kind: the first retransmission of an episode says what found the loss.
    pub fn name_repairs(&mut self, named: &[Cover]) {
        let mut named = named.iter().peekable();
        let mut kind = None;
        for stretch in &mut self.stretches {
            while let Some(&(.., owner)) = named.next_if(|one| one.1 <= stretch.to) {
                kind = Some(owner);
            }
            if !stretch.owner.is_recovery() {
                kind = None;
            } else if let Some(kind) = kind {
                stretch.owner = kind;
            }
        }
    }

    /// What each owner has, in the order of `Owner::ALL`.
    pub fn shares(&mut self) -> Vec<Share> {
        self.settled.reserve(8);
        self.settle(self.stretches.len());
        let mut shares = core::mem::take(&mut self.settled);
        shares.sort_unstable_by_key(|share| share.owner);
        shares
    }
}

impl Share {
    /// A stretch more.
    fn count(shares: &mut Vec<Share>, from: Time, to: Time, owner: Owner) {
        let length = to.since(from);
        let place = shares.iter().position(|share| share.owner == owner);
        let place = place.unwrap_or_else(|| {
            shares.push(Share {
                owner,
                length: Duration::ZERO,
                stretches: 0,
                slow: 0,
                slow_length: Duration::ZERO,
                slow_least: None,
                longest: Duration::ZERO,
                evidence: to,
            });
            shares.len() - 1
        });
        let share = &mut shares[place];
        share.length += length;
        share.stretches = share.stretches.saturating_add(1);
        if length >= SLOW {
            share.slow = share.slow.saturating_add(1);
            share.slow_length += length;
            share.slow_least = Some(share.slow_least.map_or(length, |least| least.min(length)));
        }
        if length > share.longest {
            share.longest = length;
            share.evidence = to;
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
        line.push(at(300), Owner::Server);
        line.push(at(310), Owner::RoundTrip);
        line.push(at(810), Owner::Server);
        line.push(at(700), Owner::Client);
        let shares = line.shares();
        assert_eq!(shares.len(), 2);
        let server = shares[0];
        assert_eq!(
            (server.owner, server.stretches, server.slow),
            (Owner::Server, 2, 2)
        );
        assert_eq!(server.length, Duration::from_millis(800));
        assert_eq!(server.slow_least, Some(Duration::from_millis(300)));
        assert_eq!(
            (server.longest, server.evidence),
            (Duration::from_millis(500), at(810))
        );
    }

    #[test]
    fn what_is_learned_at_the_end_is_written_over() {
        let mut line = Timeline::default();
        line.begin(at(0));
        line.push(at(10), Owner::Connecting);
        line.push(at(50), Owner::Sender);
        line.push(at(60), Owner::RecoveryFast);
        let timer = (at(5), at(50), Owner::RecoveryTimer);
        line.cover(&[timer], |was, _| was != Owner::Connecting);
        line.name_repairs(&[timer]);
        let shares = line.shares();
        let told: Vec<_> = shares.iter().map(|one| (one.owner, one.length)).collect();
        let ms = Duration::from_millis;
        assert_eq!(
            told,
            [(Owner::Connecting, ms(10)), (Owner::RecoveryTimer, ms(50))]
        );
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
                line.push(at(plain.len() as u64), Owner::ALL[owner]);
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
            line.cover(&list, |_, _| true);
            for share in line.shares() {
                let own = plain.iter().filter(|owner| **owner == share.owner).count();
                prop_assert_eq!(share.length, Duration::from_millis(own as i64));
                plain.retain(|owner| *owner != share.owner);
            }
            prop_assert!(plain.is_empty());
        }
    }
}
