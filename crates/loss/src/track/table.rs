//! All connections, a bounded number of them.

use core::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::hash_table::{Entry, HashTable};
use rexmit_wire::FlowKey;
use rustc_hash::FxHasher;

use super::flow::Flow;

/// Where a connection stands in the table.
pub(crate) type Slot = u32;

/// All connections that are remembered.
///
/// The index is never walked, so its order does not matter; whatever goes over all connections goes over the
/// slots. Room is made by the clock algorithm: the hand passes over the connections used since it
/// last came by and takes the first that was not.
#[derive(Debug)]
pub(crate) struct Table {
    slots: Vec<Option<Box<Known>>>,
    free: Vec<Slot>,
    /// Slots by their connection's key, which stands in the slot alone: the index stays in the cache.
    index: HashTable<Slot>,
    hand: usize,
    capacity: usize,
}

#[derive(Debug)]
struct Known {
    flow: Flow,
    used: bool,
}

impl Table {
    /// An empty table for `capacity` connections, at least one.
    pub fn new(capacity: usize) -> Self {
        Table {
            slots: Vec::new(),
            free: Vec::new(),
            index: HashTable::new(),
            hand: 0,
            capacity: capacity.clamp(1, Slot::MAX as usize),
        }
    }

    /// The slot of a connection.
    #[inline]
    pub fn find(&self, key: &FlowKey) -> Option<Slot> {
        self.index
            .find(hash(key), |slot| holds(&self.slots, *slot, key))
            .copied()
    }

    /// The connection in a slot, which counts as used.
    #[inline]
    pub fn get(&mut self, slot: Slot) -> Option<&mut Flow> {
        let known = self.slots.get_mut(slot as usize)?.as_mut()?;
        known.used = true;
        Some(&mut known.flow)
    }

    /// Whether a further connection needs room first.
    pub fn is_full(&self) -> bool {
        self.index.len() >= self.capacity
    }

    /// The slot of a connection that has not been used for long.
    pub fn idle(&mut self) -> Option<Slot> {
        // Two rounds: the first may only find connections in use and clears their marks.
        for _ in 0..self.slots.len() * 2 {
            self.hand = (self.hand + 1) % self.slots.len();
            if let Some(known) = &mut self.slots[self.hand] {
                if !core::mem::take(&mut known.used) {
                    return Some(self.hand as Slot);
                }
            }
        }
        None
    }

    /// Takes a connection in, whose key is not known yet.
    pub fn insert(&mut self, flow: Flow) -> Slot {
        let key = flow.key;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as Slot
        });
        self.slots[slot as usize] = Some(Box::new(Known { flow, used: true }));
        let slots = &self.slots;
        let rehash = |slot: &Slot| key_of(slots, *slot).map_or(0, hash);
        self.index.insert_unique(hash(&key), slot, rehash);
        slot
    }

    /// Takes a connection out.
    pub fn remove(&mut self, slot: Slot) -> Option<Flow> {
        let key = *key_of(&self.slots, slot)?;
        let slots = &self.slots;
        let rehash = |slot: &Slot| key_of(slots, *slot).map_or(0, hash);
        if let Entry::Occupied(entry) = self.index.entry(hash(&key), |s| *s == slot, rehash) {
            entry.remove();
        }
        self.free.push(slot);
        self.slots[slot as usize].take().map(|known| known.flow)
    }

    /// How many slots there are, empty ones included.
    pub fn slots(&self) -> Slot {
        self.slots.len() as Slot
    }
}

#[inline]
fn hash(key: &FlowKey) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(key)
}

#[inline]
fn key_of(slots: &[Option<Box<Known>>], slot: Slot) -> Option<&FlowKey> {
    Some(&slots.get(slot as usize)?.as_ref()?.flow.key)
}

#[inline]
fn holds(slots: &[Option<Box<Known>>], slot: Slot, key: &FlowKey) -> bool {
    key_of(slots, slot) == Some(key)
}
