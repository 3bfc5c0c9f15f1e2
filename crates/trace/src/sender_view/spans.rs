//! A set of places, as spans in order.

use std::collections::BTreeMap;

/// Spans `start..end` in order that neither overlap nor touch: the end of each by its start.
///
/// As a tree: what arrives in any order makes as many spans as there are packets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    spans: BTreeMap<i64, i64>,
}

impl Spans {
    /// The last span that begins at or before a place.
    fn before(&self, place: i64) -> Option<(i64, i64)> {
        let (start, end) = self.spans.range(..=place).next_back()?;
        Some((*start, *end))
    }

    /// Adds `start..end` and calls `new` with each part that was not there before.
    pub(crate) fn insert(&mut self, start: i64, end: i64, mut new: impl FnMut(i64, i64)) {
        if start >= end {
            return;
        }
        let (mut first, mut at) = (start, start);
        if let Some((s, e)) = self.before(start).filter(|s| s.1 >= start) {
            (first, at) = (s, e);
        }
        let mut last = end.max(at);
        while let Some((&s, &e)) = self.spans.range(first + 1..=end).next() {
            if at < s {
                new(at, s);
            }
            at = at.max(e);
            last = last.max(e);
            self.spans.remove(&s);
        }
        if at < end {
            new(at, end);
        }
        self.spans.insert(first, last);
    }

    /// Adds `start..end`.
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        self.insert(start, end, |_, _| {});
    }

    /// Takes `start..end` out, all of which is there.
    pub(crate) fn remove(&mut self, start: i64, end: i64) {
        let Some((s, e)) = self.before(start).filter(|s| s.1 >= end) else {
            return;
        };
        self.spans.remove(&s);
        let parts = [(s, start), (end, e)];
        self.spans
            .extend(parts.into_iter().filter(|(from, to)| from < to));
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether all of `start..end` is there.
    pub(crate) fn covers(&self, start: i64, end: i64) -> bool {
        self.before(start).is_some_and(|s| end <= s.1)
    }

    /// Whether any of `start..end` is there.
    pub(crate) fn meets(&self, start: i64, end: i64) -> bool {
        start < end && self.before(end - 1).is_some_and(|s| s.1 > start)
    }

    /// The end of the last span.
    pub(crate) fn highest(&self) -> Option<i64> {
        self.spans.last_key_value().map(|s| *s.1)
    }

    /// How many places above `place` are there, counted from the highest up to `most`.
    pub(crate) fn above(&self, place: i64, most: i64) -> i64 {
        let mut all = 0;
        for (start, end) in self.spans.range(..).rev() {
            if *end <= place || all >= most {
                break;
            }
            all += end - (*start).max(place);
        }
        all.min(most)
    }

    /// Forgets what lies below `place`.
    pub(crate) fn forget_below(&mut self, place: i64) {
        while let Some(first) = self.spans.first_entry().filter(|s| *s.key() < place) {
            let (_, end) = first.remove_entry();
            if end > place {
                self.spans.insert(place, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_set_of_single_places() {
        let mut spans = Spans::default();
        let mut oracle = [false; 64];
        let mut x = 12_345_u32;
        for round in 0..400 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (start, len) = (i64::from(x >> 8) % 60, i64::from(x >> 20) % 5);
            let end = (start + len).min(64);
            let mut fresh = Vec::new();
            spans.insert(start, end, |s, e| fresh.extend(s..e));
            let expected: Vec<i64> = (start..end).filter(|&p| !oracle[p as usize]).collect();
            assert_eq!(fresh, expected, "round {round}");
            (start..end).for_each(|p| oracle[p as usize] = true);
            if round % 50 == 49 {
                let below = i64::from(x % 30);
                spans.forget_below(below);
                oracle[..below as usize].fill(false);
            }
            let highest = oracle.iter().rposition(|&b| b).map(|p| p as i64 + 1);
            assert_eq!(spans.highest(), highest, "round {round}");
            let above = oracle[start as usize..].iter().filter(|&&p| p).count() as i64;
            assert_eq!(spans.above(start, 5), above.min(5), "round {round}");
            let (from, to) = (start as usize, end as usize);
            if from < to {
                let there = oracle[from..to].iter();
                assert_eq!(spans.covers(start, end), there.clone().all(|&p| p));
                assert_eq!(spans.meets(start, end), there.into_iter().any(|&p| p));
            }
        }
    }
}
