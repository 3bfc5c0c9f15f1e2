//! What a sender's IP identifications tell.

/// Packets after which a sender's habit is known.
const ENOUGH: u32 = 4;
/// A counter shared with other connections goes on by this much from packet to packet at most.
const STRIDE: u16 = 1024;

/// How a sender numbers its packets, learned from them.
///
/// Linux counts per connection, older systems per host; others draw at random or leave 0 (RFC 6864 §4.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ids {
    last: Option<u16>,
    counted: u32,
    same: u32,
    all: u32,
}

impl Ids {
    /// A packet with new data had this identification.
    pub(super) fn learn(&mut self, id: Option<u16>) {
        let Some(id) = id else { return };
        if let Some(last) = self.last.replace(id) {
            self.all = self.all.saturating_add(1);
            let step = id.wrapping_sub(last);
            self.same = self.same.saturating_add(u32::from(step == 0));
            self.counted = self
                .counted
                .saturating_add(u32::from((1..=STRIDE).contains(&step)));
        }
    }

    /// Packets are counted: identifications tell their order.
    pub(super) const fn count(&self) -> bool {
        self.all >= ENOUGH && self.counted as u64 * 10 >= self.all as u64 * 9
    }

    /// Different packets have different identifications: the same one twice is the same packet.
    pub(super) const fn differ(&self) -> bool {
        self.all >= ENOUGH && self.same as u64 * 10 <= self.all as u64
    }

    /// How many packets lie between two that came one after the other, of which the first counted for `first`; 0 where
    /// that cannot be told.
    pub(super) fn between(&self, a: Option<u16>, b: Option<u16>, first: u32) -> u32 {
        match (a, b) {
            (Some(a), Some(b)) if self.count() && a != 0 => {
                let step = i32::from(b.wrapping_sub(a) as i16) - first as i32;
                u32::try_from(step).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Whether `a` was given before `b`, if that can be told.
    pub(super) fn before(&self, a: Option<u16>, b: Option<u16>) -> Option<bool> {
        match (a, b) {
            (Some(a), Some(b)) if self.count() && a != b => Some((a.wrapping_sub(b) as i16) < 0),
            _ => None,
        }
    }

    /// Whether both are of one packet, if that can be told.
    pub(super) fn equal(&self, a: Option<u16>, b: Option<u16>) -> Option<bool> {
        match (a, b) {
            (Some(a), Some(b)) if self.differ() => Some(a == b),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(ids: impl IntoIterator<Item = u16>) -> Ids {
        let mut habit = Ids::default();
        ids.into_iter().for_each(|id| habit.learn(Some(id)));
        habit
    }

    #[test]
    fn counters_random_and_constant_are_told_apart() {
        let counter = learned((0..10).map(|i| 65_530_u16.wrapping_add(i)));
        assert_eq!(counter.before(Some(65_535), Some(1)), Some(true));
        assert_eq!(counter.before(Some(1), Some(65_535)), Some(false));
        assert_eq!(counter.equal(Some(3), Some(3)), Some(true));
        let random = learned((0..10).map(|i: u16| i.wrapping_mul(25_173).wrapping_add(13_849)));
        assert_eq!(random.before(Some(1), Some(2)), None);
        assert_eq!(random.equal(Some(3), Some(3)), Some(true));
        let zero = learned([0; 10]);
        assert_eq!(zero.before(Some(0), Some(0)), None);
        assert_eq!(zero.equal(Some(0), Some(0)), None);
        assert_eq!(learned([1, 2]).equal(Some(2), Some(2)), None);
        assert_eq!(Ids::default().equal(None, None), None);
    }
}
