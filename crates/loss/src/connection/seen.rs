//! Which positions were sent.

use rexmit_wire::Intervals;

/// Most gaps that are remembered; beyond, the lowest counts as sent.
const GAPS: usize = 1_024;

/// The positions that were sent: all below the highest but for the gaps that overtaking leaves, mostly none.
#[derive(Clone, Debug)]
pub(crate) struct SentRanges {
    /// Behind the highest position sent.
    pub highest: u64,
    gaps: Intervals<u64>,
}

impl SentRanges {
    /// Everything below `first` counts as sent.
    pub fn below(first: u64) -> Self {
        SentRanges {
            highest: first,
            gaps: Intervals::default(),
        }
    }

    /// Adds `start..end`.
    pub fn insert(&mut self, start: u64, end: u64) {
        if start < self.highest {
            self.gaps.remove(start, end);
        } else if start > self.highest {
            self.gaps.add(self.highest, start);
            while self.gaps.len() > GAPS {
                self.gaps.remove_lowest();
            }
        }
        self.highest = self.highest.max(end);
    }

    /// Whether some of `start..end` was sent.
    pub fn intersects(&self, start: u64, end: u64) -> bool {
        start < end && start < self.highest && !self.gaps.covers(start, end.min(self.highest))
    }

    /// Whether all of `start..end` was sent.
    pub fn covers(&self, start: u64, end: u64) -> bool {
        start >= end || (end <= self.highest && !self.gaps.meets(start, end))
    }

    /// The parts of `start..end` that were not sent, in order.
    pub fn gaps(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let gaps = self.gaps.within(start, end);
        let below = gaps.map(move |(from, to)| (from.max(start), to.min(end)));
        let above = (start.max(self.highest), end);
        below.chain((above.0 < above.1).then_some(above)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tells_what_was_sent(sent in proptest::collection::vec((5u64..60, 0u64..8), 0..20), start in 0u64..70, len in 0u64..20) {
            let mut seen = SentRanges::below(5);
            let mut plain = [false; 100];
            plain[..5].fill(true);
            for (at, len) in sent {
                if len > 0 {
                    seen.insert(at, at + len);
                    plain[at as usize..(at + len) as usize].fill(true);
                }
            }
            let end = start + len;
            let inside = &plain[start as usize..end as usize];
            prop_assert_eq!(seen.intersects(start, end), inside.contains(&true));
            prop_assert_eq!(seen.covers(start, end), !inside.contains(&false));
            let mut gaps = [false; 100];
            for (a, b) in seen.gaps(start, end) {
                gaps[a as usize..b as usize].fill(true);
            }
            for at in 0..100u64 {
                prop_assert_eq!(gaps[at as usize], (start..end).contains(&at) && !plain[at as usize]);
            }
        }
    }

    #[test]
    fn too_many_gaps_close_from_below() {
        let mut seen = SentRanges::below(0);
        for n in 1..=1_030 {
            seen.insert(n * 10, n * 10 + 5);
        }
        assert!(seen.covers(0, 65) && !seen.covers(65, 70));
    }
}
