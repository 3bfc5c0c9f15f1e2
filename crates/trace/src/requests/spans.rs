//! Whose the time of requests was: the owner that has most of it.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};

use crate::account::Owner;

/// An owner, and how much it has.
pub(super) type Whose = (Owner, Duration);

/// Spans that wait at most: stretches without an end, or a clock that stands still, decide none. Of more, the oldest has what it
/// has so far.
const MOST: usize = 1 << 14;

/// From where to where, in order and apart; the last one has no end yet, if it is not over.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    waiting: VecDeque<(Time, Option<Time>)>,
    /// What owners have of the first one so far.
    sums: [Duration; Owner::ALL.len()],
    found: Vec<Whose>,
}

impl Spans {
    /// Begins anew, in the same memory.
    pub fn clear(&mut self) {
        self.waiting.clear();
        self.found.clear();
        self.sums = [Duration::ZERO; Owner::ALL.len()];
    }

    pub(super) fn begin(&mut self, at: Time) {
        if self.waiting.len() == MOST {
            self.decide();
        }
        self.waiting.push_back((at, None));
    }

    pub(super) fn end(&mut self, at: Time) {
        if let Some((start, end)) = self.waiting.back_mut() {
            *end = Some(at.max(*start));
        }
    }

    /// The last two are one; not if the one before is decided.
    pub(super) fn join(&mut self) -> bool {
        if self.waiting.len() < 2 {
            return false;
        }
        self.waiting.pop_back();
        if let Some((_, end)) = self.waiting.back_mut() {
            *end = None;
        }
        true
    }

    pub(super) fn forget_last(&mut self) {
        self.waiting.pop_back();
    }

    /// The time up to `to` from where the stretch before ended, and whose it was, for good.
    #[inline]
    pub fn stretch(&mut self, from: Time, to: Time, owner: Owner) {
        while let Some(&(start, end)) = self.waiting.front() {
            if to <= start {
                break;
            }
            let stop = end.map_or(to, |end| end.min(to));
            let length = stop.since(from.max(start));
            self.sums[owner as usize] += length.max(Duration::ZERO);
            if end.is_none_or(|end| end > to) {
                break;
            }
            self.decide();
        }
    }

    /// Who has most of the first one.
    fn decide(&mut self) {
        let sums = core::mem::replace(&mut self.sums, [Duration::ZERO; Owner::ALL.len()]);
        let none = (Owner::Unknown, Duration::ZERO);
        let owners = Owner::ALL.iter().copied().zip(sums);
        let most = owners.fold(none, |most, of| if of.1 > most.1 { of } else { most });
        self.found.push(most);
        self.waiting.pop_front();
    }

    /// Those that are decided and were not asked for yet, in order.
    pub(super) fn found(&mut self) -> impl Iterator<Item = Whose> + '_ {
        self.found.drain(..)
    }

    /// The same, and all that are left.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = Whose> + '_ {
        while !self.waiting.is_empty() {
            self.decide();
        }
        self.found()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn ms(ms: i64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn most_of_a_span_decides() {
        let mut spans = Spans::default();
        spans.begin(at(10));
        spans.end(at(100));
        spans.begin(at(100));
        spans.stretch(at(0), at(40), Owner::RoundTrip);
        spans.stretch(at(40), at(90), Owner::Server);
        spans.stretch(at(90), at(150), Owner::SlowStart);
        assert_eq!(spans.found().collect::<Vec<_>>(), [(Owner::Server, ms(50))]);
        spans.stretch(at(150), at(160), Owner::Server);
        spans.end(at(200));
        spans.begin(at(300));
        spans.end(at(300));
        assert_eq!(
            spans.finish().collect::<Vec<_>>(),
            [(Owner::SlowStart, ms(50)), (Owner::Unknown, ms(0))]
        );
    }

    #[test]
    fn so_many_wait_and_the_oldest_has_what_it_has() {
        let mut spans = Spans::default();
        for number in 0..MOST as u64 + 3 {
            spans.begin(at(number));
            spans.end(at(number + 1));
            if number == 0 {
                spans.stretch(at(0), at(0) + ms(1) / 2, Owner::Server);
            }
        }
        let shares: Vec<_> = spans.found().collect();
        let rest = (Owner::Unknown, ms(0));
        assert_eq!(shares, [(Owner::Server, ms(1) / 2), rest, rest]);
        assert_eq!(spans.finish().count(), MOST);
    }

    #[test]
    fn two_are_joined_until_the_first_is_decided() {
        let mut spans = Spans::default();
        spans.begin(at(0));
        spans.end(at(10));
        spans.begin(at(20));
        assert!(spans.join());
        spans.stretch(at(0), at(30), Owner::Server);
        spans.end(at(30));
        spans.begin(at(40));
        spans.stretch(at(30), at(50), Owner::Client);
        assert!(!spans.join());
        let all: Vec<_> = spans.finish().collect();
        assert_eq!(all, [(Owner::Server, ms(30)), (Owner::Client, ms(10))]);
    }
}
