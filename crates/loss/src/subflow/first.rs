//! What each byte of a stream was sent with at first.

use std::collections::BTreeMap;

/// What the bytes of a stream were first sent with, all of them remembered.
#[derive(Debug)]
pub(crate) struct First<T> {
    /// By their first byte, none overlapping.
    pieces: BTreeMap<u64, Piece<T>>,
}

#[derive(Clone, Copy, Debug)]
struct Piece<T> {
    end: u64,
    with: T,
}

impl<T> Default for First<T> {
    fn default() -> Self {
        First {
            pieces: BTreeMap::new(),
        }
    }
}

impl<T: Copy> First<T> {
    /// Bytes `start..end` are sent with this; those that were sent before keep what they have.
    pub fn send(&mut self, start: u64, end: u64, with: T) {
        let there: Vec<(u64, u64)> = self
            .touching(start, end)
            .map(|(from, to, _)| (from, to))
            .collect();
        let mut gap = start;
        for (from, to) in there.into_iter().chain([(end, end)]) {
            if gap < from {
                self.pieces.insert(gap, Piece { end: from, with });
            }
            gap = gap.max(to);
        }
    }

    /// What the byte at `at` was sent with, if it was.
    pub fn at(&self, at: u64) -> Option<T> {
        let (_, piece) = self.pieces.range(..=at).next_back()?;
        (at < piece.end).then_some(piece.with)
    }

    /// The pieces that share a byte with `start..end`, in order: where they begin and end.
    pub fn touching(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, T)> + '_ {
        let before = self.pieces.range(..=start).next_back();
        let first = before.map_or(start, |(from, _)| *from);
        self.pieces
            .range(first..end.max(first))
            .map(|(from, piece)| (*from, piece.end, piece.with))
            .filter(move |(_, to, _)| *to > start)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn remembers_the_first_of_every_byte(
            sent in proptest::collection::vec((0u64..40, 1u64..12), 0..20),
            start in 0u64..60, len in 0u64..9,
        ) {
            let mut first = First::default();
            let mut plain = [None; 64];
            for (n, (start, len)) in sent.into_iter().enumerate() {
                first.send(start, start + len, n);
                for known in &mut plain[start as usize..(start + len) as usize] {
                    known.get_or_insert(n);
                }
            }
            for at in 0..64 {
                prop_assert_eq!(first.at(at), plain[at as usize]);
            }
            let end = (start + len).min(64);
            let mut touched = [None; 64];
            let mut behind = 0;
            for (from, to, with) in first.touching(start, end) {
                prop_assert!(behind <= from && from < to && from < end && start < to);
                behind = to;
                for at in from.max(start)..to.min(end) {
                    touched[at as usize] = Some(with);
                }
            }
            prop_assert_eq!(&touched[start as usize..end as usize], &plain[start as usize..end as usize]);
        }
    }
}
