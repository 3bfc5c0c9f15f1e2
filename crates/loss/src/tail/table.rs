//! All connections, a bounded number of them.

use core::hash::BuildHasherDefault;

use hashbrown::HashMap;
use rexmit_wire::FlowKey;
use rustc_hash::FxHasher;

use super::flow::Flow;

/// Where a connection stands in the table.
pub(super) type Slot = u32;

/// All connections that are remembered.
///
/// The map is never walked, so its order does not matter; whatever goes over all connections goes over the
/// slots. Room is made by the clock algorithm: the hand passes over the connections used since it
/// last came by and takes the first that was not.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<Option<Entry>>,
    free: Vec<Slot>,
    index: HashMap<FlowKey, Slot, BuildHasherDefault<FxHasher>>,
    hand: usize,
    capacity: usize,
}

#[derive(Debug)]
struct Entry {
    flow: Flow,
    used: bool,
}

impl Table {
    /// An empty table for `capacity` connections, at least one.
    pub fn new(capacity: usize) -> Self {
        Table {
            slots: Vec::new(),
            free: Vec::new(),
            index: HashMap::default(),
            hand: 0,
            capacity: capacity.clamp(1, Slot::MAX as usize),
        }
    }

    /// The slot of a connection.
    pub fn find(&self, key: &FlowKey) -> Option<Slot> {
        self.index.get(key).copied()
    }

    /// The connection in a slot, which counts as used.
    pub fn get(&mut self, slot: Slot) -> Option<&mut Flow> {
        let entry = self.slots.get_mut(slot as usize)?.as_mut()?;
        entry.used = true;
        Some(&mut entry.flow)
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
            if let Some(entry) = &mut self.slots[self.hand] {
                if !core::mem::take(&mut entry.used) {
                    return Some(self.hand as Slot);
                }
            }
        }
        None
    }

    /// Takes a connection in.
    pub fn insert(&mut self, flow: Flow) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as Slot
        });
        self.index.insert(flow.key, slot);
        self.slots[slot as usize] = Some(Entry { flow, used: true });
        slot
    }

    /// Takes a connection out.
    pub fn remove(&mut self, slot: Slot) -> Option<Flow> {
        let entry = self.slots.get_mut(slot as usize)?.take()?;
        self.index.remove(&entry.flow.key);
        self.free.push(slot);
        Some(entry.flow)
    }

    /// How many slots there are, empty ones included.
    pub fn slots(&self) -> Slot {
        self.slots.len() as Slot
    }
}
