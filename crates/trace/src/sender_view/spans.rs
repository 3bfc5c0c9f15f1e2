//! A set of places, as spans in order.

/// Spans `start..end` in order that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    spans: Vec<(i64, i64)>,
}

impl Spans {
    /// None yet; they go into `recycled`.
    pub(super) fn within(recycled: Vec<(i64, i64)>) -> Self {
        Spans { spans: recycled }
    }

    /// Its collection.
    pub(super) fn leave(self) -> Vec<(i64, i64)> {
        self.spans
    }

    /// Adds `start..end` and calls `new` with each part that was not there before.
    pub(super) fn insert(&mut self, start: i64, end: i64, mut new: impl FnMut(i64, i64)) {
        if start >= end {
            return;
        }
        let from = self.spans.partition_point(|s| s.1 < start);
        let mut to = from;
        let mut merged = (start, end);
        let mut at = start;
        while let Some(&(s, e)) = self.spans.get(to).filter(|s| s.0 <= end) {
            if at < s {
                new(at, s);
            }
            at = at.max(e);
            merged = (merged.0.min(s), merged.1.max(e));
            to += 1;
        }
        if at < end {
            new(at, end);
        }
        if to == from + 1 {
            self.spans[from] = merged;
        } else {
            self.spans.splice(from..to, [merged]);
        }
    }

    /// Adds `start..end`.
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        self.insert(start, end, |_, _| {});
    }

    /// Takes `start..end` out, all of which is there.
    pub(crate) fn remove(&mut self, start: i64, end: i64) {
        let at = self.spans.partition_point(|s| s.1 < end);
        let Some(&(s, e)) = self.spans.get(at) else {
            return;
        };
        let parts = [(s, start), (end, e)];
        let left = parts.into_iter().filter(|(from, to)| from < to);
        self.spans.splice(at..=at, left);
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether all of `start..end` is there.
    pub(crate) fn covers(&self, start: i64, end: i64) -> bool {
        let next = self.spans.partition_point(|s| s.1 < end);
        self.spans
            .get(next)
            .is_some_and(|s| s.0 <= start && end <= s.1)
    }

    /// Whether any of `start..end` is there.
    pub(crate) fn meets(&self, start: i64, end: i64) -> bool {
        let next = self.spans.partition_point(|s| s.1 <= start);
        self.spans.get(next).is_some_and(|s| s.0 < end)
    }

    /// The end of the last span.
    pub(crate) fn highest(&self) -> Option<i64> {
        self.spans.last().map(|s| s.1)
    }

    /// Forgets what lies below `place`.
    pub(super) fn forget_below(&mut self, place: i64) {
        let gone = self.spans.partition_point(|s| s.1 <= place);
        if gone > 0 {
            self.spans.drain(..gone);
        }
        if let Some(first) = self.spans.first_mut() {
            first.0 = first.0.max(place);
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
            let (from, to) = (start as usize, end as usize);
            if from < to {
                let there = oracle[from..to].iter();
                assert_eq!(spans.covers(start, end), there.clone().all(|&p| p));
                assert_eq!(spans.meets(start, end), there.into_iter().any(|&p| p));
            }
        }
    }
}
