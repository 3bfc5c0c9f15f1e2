//! A sequence that grows at its end, shrinks at its front, and takes items in its middle at little cost.

use std::collections::VecDeque;

use crate::search::partition_near;

/// An item goes into a run at once where no more than so many items have to move; else the run is split there.
const RUN: usize = 128;

/// Items after the first run.
#[derive(Clone, Debug)]
struct Run<T> {
    /// The place of its first item, counted from where [`Sequence::gone`] counts.
    start: i64,
    items: VecDeque<T>,
}

/// Items with an order, by their indices.
///
/// Most sequences are never split, and are a plain ring. What is sent in any order, or SACKed in any order, cuts what was there
/// into pieces: each goes into a run of its neighbours, so that `n` items are put anywhere in `n log n` steps.
#[derive(Clone, Debug)]
pub(crate) struct Sequence<T> {
    head: VecDeque<T>,
    rest: VecDeque<Run<T>>,
    /// Items that left at the front, less those that were put there.
    gone: i64,
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Sequence::within(VecDeque::new())
    }
}

impl<T> Sequence<T> {
    /// None yet; they go into `recycled`, which is empty.
    pub fn within(recycled: VecDeque<T>) -> Self {
        Sequence {
            head: recycled,
            rest: VecDeque::new(),
            gone: 0,
        }
    }

    /// Its memory, empty.
    pub fn leave(mut self) -> VecDeque<T> {
        self.head.clear();
        self.head
    }

    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    pub fn len(&self) -> usize {
        match self.rest.back() {
            None => self.head.len(),
            Some(last) => (last.start - self.gone) as usize + last.items.len(),
        }
    }

    pub fn front(&self) -> Option<&T> {
        self.head.front()
    }

    pub fn back(&self) -> Option<&T> {
        match self.rest.back() {
            None => self.head.back(),
            Some(last) => last.items.back(),
        }
    }

    pub fn push_back(&mut self, item: T) {
        match self.rest.back_mut() {
            None => self.head.push_back(item),
            Some(last) => last.items.push_back(item),
        }
    }

    pub fn push_front(&mut self, item: T) {
        self.gone -= 1;
        self.head.push_front(item);
    }

    pub fn pop_front(&mut self) -> Option<T> {
        let item = self.head.pop_front()?;
        self.gone += 1;
        if self.head.is_empty() {
            if let Some(next) = self.rest.pop_front() {
                self.head = next.items;
            }
        }
        Some(item)
    }

    /// The run after the first that an index lies in or behind, by its number, and the index in it; none in the first.
    fn place(&self, index: usize) -> Option<(usize, usize)> {
        let place = self.gone + index as i64;
        let run = self.rest.partition_point(|run| run.start <= place);
        let run = run.checked_sub(1)?;
        Some((run, (place - self.rest[run].start) as usize))
    }

    pub fn get(&self, index: usize) -> Option<&T> {
        if index < self.head.len() {
            return self.head.get(index);
        }
        let (run, index) = self.place(index)?;
        self.rest[run].items.get(index)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        if index < self.head.len() {
            return self.head.get_mut(index);
        }
        let (run, index) = self.place(index)?;
        self.rest[run].items.get_mut(index)
    }

    /// Puts an item before the one at `index`, or at the end.
    pub fn insert(&mut self, index: usize, item: T) {
        let (run, index) = match self.place(index) {
            None => (None, index),
            Some((run, index)) => (Some(run), index),
        };
        let after = run.map_or(0, |run| run + 1);
        let items = match run {
            None => &mut self.head,
            Some(run) => &mut self.rest[run].items,
        };
        let split = index.min(items.len() - index) > RUN;
        if split {
            // The shorter part moves, so that each item moves to a run of half the length at most.
            let tail = if index * 2 < items.len() {
                let first: VecDeque<T> = items.drain(..index).collect();
                core::mem::replace(items, first)
            } else {
                items.split_off(index)
            };
            items.push_back(item);
            let start = run.map_or(self.gone, |run| self.rest[run].start) + index as i64;
            let run = Run { start, items: tail };
            self.rest.insert(after, run);
        } else {
            items.insert(index, item);
        }
        for later in self.rest.range_mut(after..) {
            later.start += 1;
        }
    }

    /// The parts of `range` that lie in each run.
    fn parts(&self, range: core::ops::Range<usize>) -> core::ops::Range<usize> {
        if range.end <= self.head.len() {
            return 0..0;
        }
        let first = self.place(range.start).map_or(0, |(run, _)| run);
        let last = self.place(range.end - 1).map_or(0, |(run, _)| run + 1);
        first..last.max(first)
    }

    /// The items at these indices, which lie in the sequence.
    pub fn range(&self, range: core::ops::Range<usize>) -> impl DoubleEndedIterator<Item = &T> {
        let (gone, len) = (self.gone, self.head.len());
        let head = self.head.range(range.start.min(len)..range.end.min(len));
        let rest = self.rest.range(self.parts(range.clone()));
        head.chain(rest.flat_map(move |run| run.items.range(run.part(gone, &range))))
    }

    /// As [`Sequence::range`].
    pub fn range_mut(
        &mut self,
        range: core::ops::Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &mut T> {
        let (gone, len) = (self.gone, self.head.len());
        let parts = self.parts(range.clone());
        let head = self
            .head
            .range_mut(range.start.min(len)..range.end.min(len));
        let rest = self.rest.range_mut(parts);
        head.chain(rest.flat_map(move |run| {
            let part = run.part(gone, &range);
            run.items.range_mut(part)
        }))
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.range(0..self.len())
    }

    /// How many items at the front are `before`, which all those that are stand there. Fast where `guess` is near.
    #[inline]
    pub fn partition_near(&self, guess: usize, before: impl Fn(&T) -> bool) -> usize {
        if self.rest.is_empty() {
            return partition_near(&self.head, guess, before);
        }
        let begins_before = |run: &Run<T>| run.items.front().is_some_and(&before);
        let near = self.place(guess).map_or(0, |(run, _)| run + 1);
        match partition_near(&self.rest, near, begins_before).checked_sub(1) {
            None => partition_near(&self.head, guess, before),
            Some(run) => {
                let run = &self.rest[run];
                let start = (run.start - self.gone) as usize;
                start + partition_near(&run.items, guess.saturating_sub(start), before)
            }
        }
    }
}

impl<T> Run<T> {
    /// The indices in the run of a range of the sequence, `gone` items of which left at the front.
    fn part(&self, gone: i64, range: &core::ops::Range<usize>) -> core::ops::Range<usize> {
        let start = (self.start - gone) as usize;
        let within = |index: usize| index.saturating_sub(start).min(self.items.len());
        within(range.start)..within(range.end)
    }
}

impl<T> core::ops::Index<usize> for Sequence<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        self.get(index).expect("an index within the sequence")
    }
}

impl<T> core::ops::IndexMut<usize> for Sequence<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        self.get_mut(index).expect("an index within the sequence")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn is_what_a_plain_list_is(steps in proptest::collection::vec((0u8..9, any::<u16>()), 0..3_000)) {
            let (mut sequence, mut plain) = (Sequence::default(), VecDeque::new());
            for (number, (kind, at)) in steps.into_iter().enumerate() {
                let at = usize::from(at);
                match kind {
                    0 => { sequence.push_back(number); plain.push_back(number); }
                    1 => { sequence.push_front(number); plain.push_front(number); }
                    2 => prop_assert_eq!(sequence.pop_front(), plain.pop_front()),
                    _ => {
                        let at = at % (plain.len() + 1);
                        sequence.insert(at, number);
                        plain.insert(at, number);
                    }
                }
                prop_assert_eq!(sequence.len(), plain.len());
                prop_assert_eq!(sequence.is_empty(), plain.is_empty());
                prop_assert_eq!((sequence.front(), sequence.back()), (plain.front(), plain.back()));
                prop_assert_eq!(sequence.get(at), plain.get(at));
            }
            prop_assert!(sequence.iter().eq(&plain));
            prop_assert!(sequence.iter().rev().eq(plain.iter().rev()));
            for from in (0..plain.len()).step_by(97) {
                for to in (from..plain.len()).step_by(101) {
                    prop_assert!(sequence.range(from..to).eq(plain.range(from..to)));
                    prop_assert!(sequence.range_mut(from..to).rev().eq(plain.range_mut(from..to).rev()));
                }
            }
            if let Some(middle) = plain.len().checked_sub(1).map(|last| last / 2) {
                sequence[middle] = 7;
                prop_assert_eq!(sequence[middle], 7);
            }
        }
    }

    #[test]
    fn finds_what_a_plain_list_finds() {
        let mut sequence = Sequence::default();
        (0..2_000).for_each(|number| sequence.push_back(number * 2));
        for number in (0..2_000).rev() {
            sequence.insert(number + 1, number * 2 + 1);
        }
        assert!(sequence.rest.len() > 4);
        for limit in 0..=4_000 {
            assert_eq!(sequence.partition_near(7, |number| *number < limit), limit);
        }
    }

    #[test]
    fn items_that_go_anywhere_move_few_others() {
        let mut sequence = Sequence::default();
        let mut place = 0;
        for number in 0..20_000 {
            place = (place + 7_919) % (number + 1);
            sequence.insert(place, number);
        }
        let longest = sequence.rest.iter().map(|run| run.items.len()).max();
        assert!(
            longest.is_some_and(|longest| longest <= 4 * RUN),
            "{longest:?}"
        );
        assert!(
            sequence.rest.len() <= 20_000 / RUN * 2,
            "{}",
            sequence.rest.len()
        );
    }
}
