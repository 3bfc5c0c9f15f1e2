//! Slots by hash, in one array that can be fetched ahead.

use super::{Hashed, Slot};

/// Slots by hash: open addressing, the next free place for what collides.
///
/// One place is eight bytes, so that nearly every look touches one cache line, and which one is known beforehand: that of
/// many packets can be on its way from memory at once. A general hash table does not tell.
#[derive(Debug)]
pub(super) struct Index {
    /// A power of two of places, more than half of them empty.
    places: Vec<HashedSlot>,
    len: usize,
}

/// A hash and one more than its slot; 0 is empty.
#[derive(Clone, Copy, Debug, Default)]
struct HashedSlot {
    hash: u32,
    slot: Slot,
}

/// Places of an index with something in it, at least.
const LEAST: usize = 64;

impl Index {
    /// An index of nothing.
    pub const fn new() -> Self {
        Index {
            places: Vec::new(),
            len: 0,
        }
    }

    /// How many slots there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn home(&self, hash: u32) -> usize {
        // Each bit of a keyed hash is as good as any other.
        hash as usize & (self.places.len().wrapping_sub(1))
    }

    /// Fetches the place of a hash into the cache.
    #[inline]
    pub fn prefetch(&self, hash: Hashed) {
        if let Some(place) = self.places.get(self.home(hash.0)) {
            super::prefetch(place);
        }
    }

    /// The first slot with this hash that is `right`.
    #[inline]
    pub fn find(&self, hash: Hashed, mut right: impl FnMut(Slot) -> bool) -> Option<Slot> {
        self.at(hash, &mut right).map(|(_, slot)| slot)
    }

    #[inline]
    fn at(&self, hash: Hashed, right: &mut impl FnMut(Slot) -> bool) -> Option<(usize, Slot)> {
        let mut at = self.home(hash.0);
        loop {
            let place = self.places.get(at)?;
            let slot = place.slot.checked_sub(1)?;
            if place.hash == hash.0 && right(slot) {
                return Some((at, slot));
            }
            at = (at + 1) & (self.places.len() - 1);
        }
    }

    /// Adds a slot.
    pub fn insert(&mut self, hash: Hashed, slot: Slot) {
        if (self.len + 1) * 2 > self.places.len() {
            self.grow();
        }
        self.len += 1;
        self.put(HashedSlot {
            hash: hash.0,
            slot: slot + 1,
        });
    }

    fn put(&mut self, place: HashedSlot) {
        let mut at = self.home(place.hash);
        // More than half are empty, so that one is found.
        while self.places[at].slot != 0 {
            at = (at + 1) & (self.places.len() - 1);
        }
        self.places[at] = place;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = (self.places.len() * 2).max(LEAST);
        let old = core::mem::replace(&mut self.places, vec![HashedSlot::default(); larger]);
        for place in old.into_iter().filter(|place| place.slot != 0) {
            self.put(place);
        }
    }

    /// Takes a slot out.
    pub fn remove(&mut self, hash: Hashed, slot: Slot) {
        let Some((mut hole, _)) = self.at(hash, &mut |other| other == slot) else {
            return;
        };
        self.len -= 1;
        let mask = self.places.len() - 1;
        let mut at = hole;
        // Whatever follows without a gap moves up, unless it would come before its home.
        loop {
            at = (at + 1) & mask;
            let place = self.places[at];
            if place.slot == 0 {
                break;
            }
            let home = self.home(place.hash);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.places[hole] = place;
                hole = at;
            }
        }
        self.places[hole] = HashedSlot::default();
    }
}
