//! Waiting: the time in which a sender had data that its peer's window allowed, and did not send them because it waited for
//! a timer or a repair (docs/reference/glossary.md).
//!
//! A sender waits from its last transmission to a retransmission. Of that time nothing counts before what is sent again
//! went out before, before the last acknowledgement that left nothing outstanding, and before the peer's shut window
//! opened. So the waits of one sender never overlap, and idling is none. Where both ends of a connection wait at a time,
//! that time counts once.

use rexmit_time::{Duration, Time};
use rexmit_wire::Intervals;

use crate::sender_view::MECHANISMS;

/// Waits remembered of one sender until its connection ends; what it waits after so many does not count.
const MOST_WAITS: usize = 1 << 18;

/// Since when a sender has sent nothing although it could.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Silence {
    since: Option<Time>,
}

impl Silence {
    /// At this time it sent, or nothing was outstanding, or the window was shut.
    pub fn ends(&mut self, at: Time) {
        self.since = self.since.max(Some(at));
    }

    /// How long it has waited when at `at` it sends again what it sent last at `previous`, if that is known.
    pub fn waited(&self, at: Time, previous: Option<Time>) -> Duration {
        let since = self.since.map(|since| since.max(previous.unwrap_or(since)));
        since.map_or(Duration::ZERO, |since| at.since(since).max(Duration::ZERO))
    }
}

/// From when to when a sender waited, and for what: a mechanism's place in `Mechanism::ALL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    from: Time,
    to: Time,
    mechanism: usize,
}

/// The waits of one sender, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    waits: Vec<Wait>,
    perhaps: Intervals<Time>,
}

/// Time waited by mechanism, in the order of `Mechanism::ALL`.
pub type Waited = [Duration; MECHANISMS];

impl Waits {
    /// How many are remembered.
    pub(crate) fn len(&self) -> usize {
        self.waits.len() + self.perhaps.len()
    }

    /// From when to when, and the mechanism's place in `Mechanism::ALL`, in order and apart.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Time, Time, usize)> + '_ {
        let parts = |wait: &Wait| (wait.from, wait.to, wait.mechanism);
        self.waits.iter().map(parts)
    }

    /// From when to when it may have waited, in order and apart: nobody saw when it had sent last what it sent again then.
    pub(crate) fn perhaps(&self) -> impl Iterator<Item = (Time, Time)> + '_ {
        self.perhaps.within(Time::ZERO, Time::MAX)
    }

    /// The sender had waited `least` when it sent again at `to`, and `most` at most.
    pub(crate) fn may_be(&mut self, to: Time, least: Duration, most: Duration) {
        if self.perhaps.len() < MOST_WAITS {
            self.perhaps.add(to - most, to - least);
        }
    }

    /// The sender had waited so long when it sent again at `to`. Where the clock was set back, what counts already does not
    /// count again.
    pub(crate) fn add(&mut self, to: Time, waited: Duration, mechanism: usize) {
        let room = self.waits.len() < MOST_WAITS;
        let last = self.waits.last_mut();
        let from = (to - waited).max(last.as_ref().map_or(Time::ZERO, |last| last.to));
        match last {
            _ if from >= to => {}
            Some(last) if last.to == from && last.mechanism == mechanism => last.to = to,
            _ if room => self.waits.push(Wait {
                from,
                to,
                mechanism,
            }),
            _ => {}
        }
    }

    /// What it sent again at `to` after so long was no retransmission after all.
    pub(crate) fn remove(&mut self, to: Time, waited: Duration) {
        let from = to - waited;
        let first = self.waits.partition_point(|wait| wait.to <= from);
        let end = self.waits.partition_point(|wait| wait.from < to);
        let (Some(&one), Some(&last)) = (self.waits.get(first), self.waits[..end].last()) else {
            return;
        };
        let rest = [Wait { to: from, ..one }, Wait { from: to, ..last }];
        let left = rest.into_iter().filter(|wait| wait.from < wait.to);
        self.waits.splice(first..end.max(first), left);
    }
}

/// What counts of the waits of a connection's two senders: each moment from `start` to `end` once. Where both waited, it
/// counts for the one that had begun first.
#[must_use]
pub fn count_once(senders: [&Waits; 2], start: Time, end: Time) -> [Waited; 2] {
    let mut counted = [[Duration::ZERO; MECHANISMS]; 2];
    let mut next = [0, 0];
    let mut until = start;
    loop {
        let [forward, backward] = [0, 1].map(|side: usize| senders[side].waits.get(next[side]));
        let (side, wait) = match (forward, backward) {
            (Some(one), Some(other)) if other.from < one.from => (1, other),
            (Some(one), _) => (0, one),
            (None, Some(other)) => (1, other),
            (None, None) => return counted,
        };
        next[side] += 1;
        let (from, to) = (wait.from.max(until), wait.to.min(end));
        if from < to {
            counted[side][wait.mechanism] += to.since(from);
            until = to;
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

    fn ms(millis: i64) -> Duration {
        Duration::from_millis(millis)
    }

    fn waits(list: &[(u64, u64, usize)]) -> Waits {
        let mut waits = Waits::default();
        for &(from, to, mechanism) in list {
            waits.add(at(to), at(to).since(at(from)), mechanism);
        }
        waits
    }

    #[test]
    fn what_it_may_have_waited_is_apart() {
        let mut some = Waits::default();
        for (to, least, most) in [(10, 1, 1), (20, 2, 8), (22, 3, 4), (40, 1, 5)] {
            some.may_be(at(to), ms(least), ms(most));
        }
        let all = |some: &Waits| some.perhaps().collect::<Vec<_>>();
        assert_eq!(all(&some), [(at(12), at(19)), (at(35), at(39))]);
        // One that reaches back, and ends before the last.
        some.may_be(at(30), ms(5), ms(15));
        assert_eq!(all(&some), [(at(12), at(25)), (at(35), at(39))]);
        some.may_be(at(60), ms(0), ms(55));
        assert_eq!(all(&some), [(at(5), at(60))]);
    }

    #[test]
    fn what_was_no_retransmission_was_not_waited_for() {
        // Two waits on end are one, of which a part goes.
        let mut all = waits(&[(10, 20, 1), (20, 50, 1), (60, 70, 2)]);
        all.remove(at(30), ms(5));
        all.remove(at(70), ms(10));
        all.remove(at(90), ms(10));
        assert_eq!(all, waits(&[(10, 25, 1), (30, 50, 1)]));
    }

    #[test]
    fn what_was_waited_while_the_clock_was_set_back_counts_once() {
        let mut all = waits(&[(0, 100, 1), (50, 60, 1)]);
        assert_eq!(all, waits(&[(0, 100, 1)]));
        all.remove(at(60), ms(10));
        all.remove(at(100), ms(100));
        assert_eq!(all, Waits::default());
    }

    #[test]
    fn a_sender_waits_from_its_last_transmission() {
        let mut silence = Silence::default();
        assert_eq!(silence.waited(at(100), None), ms(0));
        silence.ends(at(100));
        silence.ends(at(90));
        assert_eq!(silence.waited(at(300), None), ms(200));
        assert_eq!(silence.waited(at(300), Some(at(50))), ms(200));
        assert_eq!(silence.waited(at(300), Some(at(250))), ms(50));
        // A clock that steps back.
        assert_eq!(silence.waited(at(80), None), ms(0));
    }

    #[test]
    fn what_both_wait_counts_for_the_one_that_began_first() {
        let forward = waits(&[(0, 100, 0), (200, 300, 1)]);
        let backward = waits(&[(50, 150, 2), (150, 160, 2), (190, 320, 3)]);
        let [one, other] = count_once([&forward, &backward], at(0), at(310));
        assert_eq!((one[0], one[1]), (ms(100), ms(0)));
        assert_eq!((other[2], other[3]), (ms(60), ms(120)));
    }

    proptest! {
        /// Against a set of milliseconds.
        #[test]
        fn each_moment_counts_once(
            drafts in proptest::collection::vec((0u64..9, 0u64..9, any::<bool>(), 0usize..MECHANISMS), 0..60),
            start in 0u64..30,
            length in 0u64..200,
        ) {
            let (mut lists, mut now) = ([Vec::new(), Vec::new()], [0, 0]);
            for (gap, wait, side, mechanism) in drafts {
                let now = &mut now[usize::from(side)];
                let from = *now + gap;
                *now = from + wait;
                lists[usize::from(side)].push((from, *now, mechanism));
            }
            let [forward, backward] = [waits(&lists[0]), waits(&lists[1])];
            let counted = count_once([&forward, &backward], at(start), at(start + length));
            let total: Duration = counted.iter().flatten().fold(Duration::ZERO, |sum, of| sum + *of);
            let waiting = |moment: &u64| lists.iter().flatten().any(|(from, to, _)| from <= moment && moment < to);
            let expected = (start..start + length).filter(waiting).count();
            prop_assert_eq!(total, ms(expected as i64));
            for (side, list) in lists.iter().enumerate() {
                for (mechanism, counted) in counted[side].iter().enumerate() {
                    let own: u64 = list.iter().filter(|wait| wait.2 == mechanism).map(|(from, to, _)| to - from).sum();
                    prop_assert!(*counted <= ms(own as i64));
                }
            }
        }
    }
}
