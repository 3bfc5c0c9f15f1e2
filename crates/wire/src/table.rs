//! A bounded number of things by key, such as connections: found by hash, put out when unused.

use core::hash::{BuildHasher, Hash};

mod index;
mod key;

use index::Index;
pub use key::{Folded, Key};

/// Where an entry of a [`Table`] stands, for as long as it stays.
pub type Slot = u32;

/// Entries in one allocation.
const CHUNK: usize = 256;

/// Something that knows its own key.
pub trait Keyed {
    /// What it is found by.
    type Key: Hash + Eq;

    /// Its key, always the same.
    fn key(&self) -> &Self::Key;
}

impl<V: Keyed> Keyed for Box<V> {
    type Key = V::Key;

    fn key(&self) -> &V::Key {
        V::key(self)
    }
}

/// The hash of a key by the [`Key`] of the process, computed once for a find and an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed(u32);

impl Hashed {
    /// The hash of `key`.
    #[inline]
    #[must_use]
    pub fn of<K: Hash>(key: &K) -> Self {
        Hashed::of_hash(Key::of_process().hash_one(key))
    }

    /// The hash of what has this one by the key of the process. The upper half of that is free for other uses.
    #[inline]
    #[must_use]
    pub const fn of_hash(hash: u64) -> Self {
        Hashed(hash as u32)
    }

    /// Another hash of the same key, for what must not be found by the first.
    #[must_use]
    pub const fn other(self) -> Self {
        Hashed(!self.0)
    }

    /// Its bits.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

/// Has the memory at an address on its way, which is looked at soon: one cache line.
#[inline]
pub fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: prefetching has no effect but on caches, and does nothing where there is no memory.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Entries by key, a bounded number of them.
///
/// The index is never walked, so its order does not matter; whatever goes over all entries goes over the slots.
/// Room is made by the clock algorithm: the hand passes over the entries used since it last came
/// by and takes the first that was not.
#[derive(Debug)]
pub struct Table<V> {
    chunks: Vec<Vec<Option<V>>>,
    /// Of each slot: used since the hand came by.
    used: Vec<bool>,
    /// Of each slot: by which it is found.
    hashes: Vec<Hashed>,
    free: Vec<Slot>,
    /// Hash and slot: most finds touch nothing but the index and the one entry, and growth touches no entry.
    index: Index,
    hand: Slot,
    capacity: usize,
}

impl<V: Keyed> Table<V> {
    /// An empty table for `capacity` entries, at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Table {
            chunks: Vec::new(),
            used: Vec::new(),
            hashes: Vec::new(),
            free: Vec::new(),
            index: Index::new(),
            hand: 0,
            capacity: capacity.clamp(1, Slot::MAX as usize),
        }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.len() == 0
    }

    /// The slot of an entry.
    #[inline]
    #[must_use]
    pub fn find(&self, hash: Hashed, key: &V::Key) -> Option<Slot> {
        self.index.find(hash, |slot| {
            self.peek(slot).is_some_and(|value| value.key() == key)
        })
    }

    /// Has the memory on its way in which a hash will be looked up.
    #[inline]
    pub fn prefetch(&self, hash: Hashed) {
        self.index.prefetch(hash);
    }

    /// An entry with this hash, most likely the only one.
    #[inline]
    #[must_use]
    pub fn likely(&self, hash: Hashed) -> Option<&V> {
        self.peek(self.index.find(hash, |_| true)?)
    }

    /// The entry in a slot, which counts as used.
    #[inline]
    pub fn get(&mut self, slot: Slot) -> Option<&mut V> {
        *self.used.get_mut(slot as usize)? = true;
        self.place(slot)?.as_mut()
    }

    /// The entry in a slot, as it is.
    #[inline]
    #[must_use]
    pub fn peek(&self, slot: Slot) -> Option<&V> {
        let chunk = self.chunks.get(slot as usize / CHUNK)?;
        chunk.get(slot as usize % CHUNK)?.as_ref()
    }

    /// As [`Table::peek`], to be changed in what is not its key.
    pub fn peek_mut(&mut self, slot: Slot) -> Option<&mut V> {
        self.place(slot)?.as_mut()
    }

    /// Whether a further entry needs room first.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.index.len() >= self.capacity
    }

    /// The slot of an entry that has not been used for long.
    pub fn unused(&mut self) -> Option<Slot> {
        // Two rounds: the first may only find entries in use and clears their marks.
        for _ in 0..self.used.len() * 2 {
            let hand = self.step();
            let used = core::mem::take(self.used.get_mut(hand as usize)?);
            if !used && self.peek(hand).is_some() {
                return Some(hand);
            }
        }
        None
    }

    /// Moves the hand to the next slot, filled or not. A hand that goes round visits every slot.
    pub fn step(&mut self) -> Slot {
        self.hand = if self.hand + 1 < self.slots() {
            self.hand + 1
        } else {
            0
        };
        self.hand
    }

    /// Takes an entry in, whose key is not known yet.
    pub fn insert(&mut self, hash: Hashed, value: V) -> Slot {
        let slot = if let Some(slot) = self.free.pop() {
            if let Some(used) = self.used.get_mut(slot as usize) {
                *used = true;
            }
            if let Some(place) = self.place(slot) {
                *place = Some(value);
            }
            if let Some(known) = self.hashes.get_mut(slot as usize) {
                *known = hash;
            }
            slot
        } else {
            match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
                Some(chunk) => chunk.push(Some(value)),
                None => {
                    let mut chunk = Vec::with_capacity(CHUNK);
                    chunk.push(Some(value));
                    self.chunks.push(chunk);
                }
            }
            self.used.push(true);
            self.hashes.push(hash);
            self.slots() - 1
        };
        self.index.insert(hash, slot);
        slot
    }

    /// The hash by which the entry in a slot is found.
    #[must_use]
    pub fn hash_of(&self, slot: Slot) -> Option<Hashed> {
        self.peek(slot)?;
        self.hashes.get(slot as usize).copied()
    }

    /// Takes an entry out.
    pub fn remove(&mut self, slot: Slot) -> Option<V> {
        let hash = self.hash_of(slot)?;
        self.index.remove(hash, slot);
        self.free.push(slot);
        self.place(slot)?.take()
    }

    /// How many slots there are, empty ones included.
    #[must_use]
    pub fn slots(&self) -> Slot {
        self.used.len() as Slot
    }

    #[inline]
    fn place(&mut self, slot: Slot) -> Option<&mut Option<V>> {
        let chunk = self.chunks.get_mut(slot as usize / CHUNK)?;
        chunk.get_mut(slot as usize % CHUNK)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Entry(u16, u32);

    impl Keyed for Entry {
        type Key = u16;

        fn key(&self) -> &u16 {
            &self.0
        }
    }

    proptest! {
        #[test]
        fn holds_what_a_plain_map_holds(keys in proptest::collection::vec((0u16..700, any::<bool>()), 0..3_000)) {
            let mut table = Table::new(usize::MAX);
            let mut plain = std::collections::BTreeMap::new();
            for (number, (key, remove)) in keys.into_iter().enumerate() {
                let hash = Hashed::of(&key);
                match (table.find(hash, &key), remove) {
                    (Some(slot), true) => prop_assert_eq!(table.remove(slot), plain.remove(&key)),
                    (Some(slot), false) => prop_assert_eq!(table.peek(slot), plain.get(&key)),
                    (None, _) => {
                        let entry = Entry(key, number as u32);
                        table.insert(hash, entry.clone());
                        prop_assert_eq!(plain.insert(key, entry), None);
                    }
                }
                prop_assert_eq!(table.len(), plain.len());
            }
            let mut left: Vec<_> = (0..table.slots()).filter_map(|slot| table.remove(slot)).collect();
            left.sort_by_key(|entry| entry.0);
            prop_assert_eq!(left, plain.into_values().collect::<Vec<_>>());
            prop_assert!(table.is_empty());
        }
    }

    #[test]
    fn the_hand_passes_over_what_was_used() {
        let mut table = Table::new(3);
        let slots: Vec<_> = (0..3)
            .map(|key| table.insert(Hashed::of(&key), Entry(key, 0)))
            .collect();
        assert!(table.is_full());
        // All are in use: the first round clears the marks, the second takes the first it comes to.
        assert_eq!(table.unused(), Some(slots[1]));
        assert!(table.get(slots[2]).is_some());
        assert_eq!(table.unused(), Some(slots[0]));
        assert_eq!(table.unused(), Some(slots[1]));
        assert_eq!(table.unused(), Some(slots[2]));
    }

    #[test]
    fn an_empty_table_gives_nothing_up() {
        assert_eq!(Table::<Entry>::new(0).unused(), None);
        let mut table = Table::new(0);
        assert_eq!(table.remove(7), None);
        table.insert(Hashed::of(&1u16), Entry(1, 1));
        assert!(table.is_full());
    }
}
