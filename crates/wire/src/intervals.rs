//! Sets of places, kept as intervals.

use core::ops::Bound::{Excluded, Included};
use std::collections::BTreeMap;

/// Intervals `start..end` in order that neither overlap nor touch: the end of each by its start.
///
/// As a tree: what arrives in any order makes as many intervals as there are packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intervals<T> {
    ends: BTreeMap<T, T>,
}

impl<T> Default for Intervals<T> {
    fn default() -> Self {
        Intervals {
            ends: BTreeMap::new(),
        }
    }
}

impl<T: Copy + Ord> Intervals<T> {
    /// The last interval that begins at or before a place.
    fn before(&self, place: T) -> Option<(T, T)> {
        if self.is_empty() {
            return None;
        }
        let (start, end) = self.ends.range(..=place).next_back()?;
        Some((*start, *end))
    }

    /// Adds `start..end` and calls `new` with each part that was not there before.
    pub fn insert(&mut self, start: T, end: T, mut new: impl FnMut(T, T)) {
        if start >= end {
            return;
        }
        let (mut first, mut at) = (start, start);
        if let Some((s, e)) = self.before(start).filter(|s| s.1 >= start) {
            (first, at) = (s, e);
        }
        let mut last = end.max(at);
        while let Some((&s, &e)) = self.ends.range((Excluded(first), Included(end))).next() {
            if at < s {
                new(at, s);
            }
            at = at.max(e);
            last = last.max(e);
            self.ends.remove(&s);
        }
        if at < end {
            new(at, end);
        }
        self.ends.insert(first, last);
    }

    /// Adds `start..end`.
    pub fn add(&mut self, start: T, end: T) {
        self.insert(start, end, |_, _| {});
    }

    /// The last interval that shares a place with `start..end`.
    fn last_within(&self, start: T, end: T) -> Option<(T, T)> {
        if start >= end || self.is_empty() {
            return None;
        }
        let (s, e) = self.ends.range(..end).next_back()?;
        (*e > start).then_some((*s, *e))
    }

    /// Takes `start..end` out.
    pub fn remove(&mut self, start: T, end: T) {
        while let Some((s, e)) = self.last_within(start, end) {
            self.ends.remove(&s);
            let rest = [(s, start), (end, e)].into_iter();
            self.ends.extend(rest.filter(|(from, to)| from < to));
        }
    }

    /// How many intervals there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether one interval holds all of `start..end`.
    #[must_use]
    pub fn covers(&self, start: T, end: T) -> bool {
        self.before(start).is_some_and(|s| end <= s.1)
    }

    /// Whether any of `start..end` is there.
    #[must_use]
    pub fn meets(&self, start: T, end: T) -> bool {
        self.last_within(start, end).is_some()
    }

    /// The intervals that share a place with `start..end`, in order, whole.
    pub fn within(&self, start: T, end: T) -> impl Iterator<Item = (T, T)> + '_ {
        let first = self.before(start).filter(|s| s.1 > start);
        let from = first.map_or(start, |s| s.0);
        let some = start < end && !self.is_empty();
        let within = some
            .then(|| self.ends.range(from..end))
            .into_iter()
            .flatten();
        within.map(|(s, e)| (*s, *e))
    }

    /// The parts of `start..end` that are not there, in order.
    #[must_use]
    pub fn gaps(&self, start: T, end: T) -> Vec<(T, T)> {
        let mut gaps = Vec::new();
        let mut at = start;
        for (from, to) in self.within(start, end) {
            if at < from {
                gaps.push((at, from));
            }
            at = to;
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }

    /// The end of the last interval.
    #[must_use]
    pub fn highest(&self) -> Option<T> {
        self.ends.last_key_value().map(|s| *s.1)
    }

    /// Takes the lowest interval out.
    pub fn remove_lowest(&mut self) {
        self.ends.pop_first();
    }

    /// Forgets what lies below `place`.
    pub fn forget_below(&mut self, place: T) {
        while let Some(first) = self.ends.first_entry().filter(|s| *s.key() < place) {
            let (_, end) = first.remove_entry();
            if end > place {
                self.ends.insert(place, end);
            }
        }
    }
}

impl Intervals<i64> {
    /// How many places above `place` are there, counted from the highest up to `most`.
    #[must_use]
    pub fn above(&self, place: i64, most: i64) -> i64 {
        let mut all = 0;
        for (start, end) in self.ends.range(..).rev() {
            if *end <= place || all >= most {
                break;
            }
            all += end - (*start).max(place);
        }
        all.min(most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(i64, i64),
        Remove(i64, i64),
        ForgetBelow(i64),
    }

    fn op() -> impl Strategy<Value = Op> {
        (0u8..9, 0i64..40, 0i64..12).prop_map(|(kind, at, len)| match kind {
            0 => Op::ForgetBelow(at),
            1..4 => Op::Remove(at, at + len),
            _ => Op::Insert(at, at + len),
        })
    }

    /// The places of intervals.
    fn places(intervals: impl IntoIterator<Item = (i64, i64)>) -> Vec<i64> {
        let places = intervals
            .into_iter()
            .inspect(|(from, to)| assert!(from < to));
        places.flat_map(|(from, to)| from..to).collect()
    }

    proptest! {
        #[test]
        fn behaves_as_a_set_of_places(ops in proptest::collection::vec(op(), 0..30), start in 0i64..50, len in 0i64..14) {
            let mut set = Intervals::default();
            let mut plain = [false; 64];
            for op in ops {
                match op {
                    Op::Insert(a, b) => {
                        let mut new = Vec::new();
                        set.insert(a, b, |from, to| new.push((from, to)));
                        let absent: Vec<i64> = (a..b).filter(|at| !plain[*at as usize]).collect();
                        prop_assert_eq!(places(new), absent);
                        plain[a as usize..b as usize].fill(true);
                    }
                    Op::Remove(a, b) => { set.remove(a, b); plain[a as usize..b as usize].fill(false); }
                    Op::ForgetBelow(a) => { set.forget_below(a); plain[..a as usize].fill(false); }
                }
            }
            let all: Vec<(i64, i64)> = set.within(0, 64).collect();
            prop_assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", set);
            prop_assert_eq!((set.len(), set.is_empty()), (all.len(), all.is_empty()));
            let there = |range: core::ops::Range<i64>| range.filter(|at| plain[*at as usize]);
            prop_assert_eq!(places(all), there(0..64).collect::<Vec<_>>());
            prop_assert_eq!(set.highest(), there(0..64).next_back().map(|at| at + 1));
            prop_assert_eq!(set.above(start, 5), (there(start..64).count() as i64).min(5));
            let end = start + len;
            let count = there(start..end).count() as i64;
            prop_assert_eq!(set.meets(start, end), count > 0);
            prop_assert!(len == 0 || set.covers(start, end) == (count == len));
            prop_assert!(set.within(start, end).all(|(from, to)| from < end && to > start));
            let gaps: Vec<i64> = (start..end).filter(|at| !plain[*at as usize]).collect();
            prop_assert_eq!(places(set.gaps(start, end)), gaps);
            let mut less = set.clone();
            less.remove_lowest();
            prop_assert!(less.within(0, 64).eq(set.within(0, 64).skip(1)));
        }
    }
}
