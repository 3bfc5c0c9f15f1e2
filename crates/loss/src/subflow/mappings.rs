//! Which data a subflow's bytes are.

/// The mappings of one subflow, as far as they were announced: they stay valid for what is sent later without one. Of two
/// that contradict each other the first holds, as a receiver may have acted on it.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    /// By their first place, none overlapping, each as long as it came.
    runs: Vec<Run>,
}

/// Bytes of the subflow from `start` to `end` that are data from `shift + start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    end: u64,
    shift: i64,
}

impl Mappings {
    /// Bytes `start..end` of the subflow are data from `data` on.
    pub fn announce(&mut self, start: u64, end: u64, data: i64) {
        let shift = data.wrapping_sub_unsigned(start);
        // Where the runs begin that end behind the new one's start.
        let mut at = self.runs.partition_point(|run| run.end <= start);
        let mut gap = start;
        while gap < end {
            let (next, behind) = self.runs.get(at).map_or((end, end), |r| (r.start, r.end));
            if gap < next {
                self.insert(at, gap, next.min(end), shift);
                at = self.runs.partition_point(|run| run.end <= gap);
            }
            gap = gap.max(next.min(end)).max(behind);
            at += 1;
        }
    }

    /// A run before place `at`, as part of the one there before it where they are one.
    fn insert(&mut self, at: usize, start: u64, end: u64, shift: i64) {
        let before = at.checked_sub(1).map(|at| &mut self.runs[at]);
        match before.filter(|before| before.end == start && before.shift == shift) {
            Some(before) => before.end = end,
            None => self.runs.insert(at, Run { start, end, shift }),
        }
    }

    /// Where byte `at` of the subflow lies in the data.
    pub fn data(&self, at: u64) -> Option<i64> {
        let behind = self.runs.partition_point(|run| run.start <= at);
        let run = self.runs.get(behind.checked_sub(1)?)?;
        (at < run.end).then(|| run.shift.wrapping_add_unsigned(at))
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn tells_what_was_announced_first(
            announced in proptest::collection::vec((0u64..40, 1u64..12, 0i64..3), 0..20),
        ) {
            let mut mappings = Mappings::default();
            let mut plain = [None; 64];
            for (start, len, shift) in announced {
                mappings.announce(start, start + len, start as i64 + shift * 100);
                for at in start..start + len {
                    plain[at as usize].get_or_insert(at as i64 + shift * 100);
                }
            }
            for at in 0..64 {
                prop_assert_eq!(mappings.data(at), plain[at as usize], "{} of {:?}", at, mappings);
            }
            for pair in mappings.runs.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start, "{:?}", mappings);
            }
        }
    }

    #[test]
    fn a_mapping_without_end_goes_on() {
        let mut mappings = Mappings::default();
        mappings.announce(1, 101, 0);
        mappings.announce(101, u64::MAX, 100);
        assert_eq!(mappings.data(5_000_000_000), Some(4_999_999_999));
        assert_eq!(mappings.data(0), None);
        assert_eq!(mappings.runs.len(), 1);
    }
}
