//! What a sender's IP identifications tell.

use rexmit_wire::SeqNum;

/// Packets after which a sender's habit is known.
const ENOUGH: u32 = 4;
/// Packets beside whose numbers the next one's may lie: where packets overtake each other, not only the last one's.
const LATELY: usize = 4;
/// A counter shared with other connections goes on by this much from packet to packet at most.
const STRIDE: u16 = 1024;

/// How a sender numbers its packets, learned from them.
///
/// Linux counts per connection, older systems and Windows per host, some of them in the machine's byte order; others draw
/// at random or leave 0 (RFC 6864 §4.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ids {
    /// The sender numbers the packets of each connection apart.
    own: bool,
    /// Packets are put into its order: those that overtook each other count as in order.
    sorted: bool,
    /// Identification and first number of the last packet.
    last: Option<(u16, SeqNum)>,
    /// The identifications of the newest packets, and for how many each stands.
    lately: [(u16, u16); LATELY],
    /// Steps as they are on the wire, and with the bytes swapped.
    steps: [Steps; 2],
    same: u32,
    all: u32,
}

/// How many steps from packet to packet were just right, and how many forward and not far.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    exact: u32,
    counted: u32,
}

impl Steps {
    fn add(&mut self, step: u16, is_next: bool) {
        self.exact += u32::from(is_next);
        self.counted += u32::from(step != 0 && (step as i16).unsigned_abs() <= STRIDE);
    }
}

impl Ids {
    /// Of a sender that numbers the packets of each connection apart, or is not known to.
    pub(super) fn new(own: bool) -> Self {
        Ids {
            own,
            ..Ids::default()
        }
    }

    /// Of one whose packets are put into its order.
    pub(super) fn sorted(self) -> Self {
        Ids {
            sorted: true,
            ..self
        }
    }

    /// Whether the sender numbers the packets of each connection apart, as it turned out.
    pub(super) fn set_own(&mut self, own: bool) {
        self.own = own;
    }

    /// A packet that stands for `packets` had this identification, of several cut by the network card the first.
    pub(super) fn learn(&mut self, id: Option<u16>, seq: SeqNum, packets: u32) {
        // Packets without a socket have 0 (Linux: SYN-ACK, RST).
        let Some(id) = id.filter(|&id| id != 0) else {
            return;
        };
        if self.last == Some((id, seq)) {
            // The capture has it twice.
            return;
        }
        let packets = packets.min(u32::from(u16::MAX)) as u16;
        if let Some((last, at)) = self.last.replace((id, seq)) {
            if self.all == u32::MAX {
                return;
            }
            self.all += 1;
            self.same += u32::from(id == last);
            // It follows the last one; or one overtook another, by both their numbers, and it follows one of the newest or
            // one of them follows it.
            let [(_, its), ..] = self.lately;
            let (sorted, lately, forth) = (self.sorted, &self.lately, at.is_before(seq));
            let next = |order: fn(u16) -> u16| {
                let step = |from: u16, to: u16| order(to).wrapping_sub(order(from));
                let beside = |&(other, its): &(u16, u16)| {
                    its > 0 && (step(other, id) == its || step(id, other) == packets)
                };
                step(last, id) == its
                    || (sorted && (step(last, id) as i16 > 0) == forth && lately.iter().any(beside))
            };
            let is_next = [next(|id| id), next(u16::swap_bytes)];
            let [plain, swapped] = &mut self.steps;
            plain.add(id.wrapping_sub(last), is_next[0]);
            swapped.add(id.swap_bytes().wrapping_sub(last.swap_bytes()), is_next[1]);
        }
        self.lately.copy_within(..LATELY - 1, 1);
        self.lately[0] = (id, packets);
    }

    /// Whether the machine's byte order is not the network's.
    const fn is_swapped(&self) -> bool {
        let [plain, swapped] = &self.steps;
        swapped.exact > plain.exact && swapped.counted >= plain.counted
    }

    const fn steps(&self) -> &Steps {
        let [plain, swapped] = &self.steps;
        if self.is_swapped() {
            swapped
        } else {
            plain
        }
    }

    /// From `a` to `b` as the sender counts.
    const fn step(&self, a: u16, b: u16) -> i16 {
        if self.is_swapped() {
            b.swap_bytes().wrapping_sub(a.swap_bytes()) as i16
        } else {
            b.wrapping_sub(a) as i16
        }
    }

    /// Packets are counted, with others or alone: identifications tell their order.
    pub(super) const fn count(&self) -> bool {
        self.all >= 1 && self.steps().counted as u64 * 10 >= self.all as u64 * 9
    }

    /// Packets of this connection alone are counted, one by one: missing ones show.
    pub(super) const fn count_own(&self) -> bool {
        let exact = self.steps().exact as u64;
        let mostly = self.all < ENOUGH || exact * 2 >= self.all as u64;
        self.own && self.count() && exact >= 1 && mostly
    }

    /// Different packets have different identifications: the same one twice is the same packet.
    pub(super) const fn differ(&self) -> bool {
        self.all >= ENOUGH && self.same as u64 * 10 <= self.all as u64
    }

    /// How many packets lie between two that came one after the other, of which the first counted for `first`; 0 where
    /// that cannot be told.
    pub(super) fn between(&self, a: Option<u16>, b: Option<u16>, first: u32) -> u32 {
        match (a, b) {
            (Some(a), Some(b)) if self.count_own() && a != 0 && b != 0 => {
                let step = i32::from(self.step(a, b)) - first as i32;
                u32::try_from(step).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Whether `a` was given before `b`, if that can be told.
    pub(super) fn before(&self, a: Option<u16>, b: Option<u16>) -> Option<bool> {
        match (a, b) {
            (Some(a), Some(b)) if self.count() && a != b => Some(self.step(b, a) < 0),
            _ => None,
        }
    }

    /// Whether `other` is the identification of the packet `step` packets after the one with `id`.
    pub(super) fn follows(&self, id: u16, other: Option<u16>, step: i16) -> bool {
        let is_step = |other| self.differ() && self.step(id, other) == step;
        other.is_some_and(is_step)
    }

    /// Whether both are of one packet, if that can be told.
    pub(super) fn equal(&self, a: Option<u16>, b: Option<u16>) -> Option<bool> {
        match (a, b) {
            (Some(a), Some(b)) if self.differ() && (a, b) != (0, 0) => Some(a == b),
            // A habit not known yet: 0 is the only number that is often repeated.
            (Some(a), Some(b)) if self.all < ENOUGH && a != 0 => Some(a == b),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(ids: impl IntoIterator<Item = u16>) -> Ids {
        let mut habit = Ids::new(true).sorted();
        let numbered = ids.into_iter().zip(0..);
        numbered.for_each(|(id, seq)| habit.learn(Some(id), SeqNum::new(seq), 1));
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
        let swapped = learned((0..10).map(|i| (250_u16 + i).swap_bytes()));
        let number = |id: u16| Some(id.swap_bytes());
        assert_eq!(swapped.before(number(255), number(256)), Some(true));
        assert_eq!(swapped.between(number(255), number(258), 1), 2);
        let mut shared = counter;
        shared.set_own(false);
        assert_eq!(shared.before(Some(65_535), Some(1)), Some(true));
        assert_eq!(shared.between(Some(1), Some(9), 1), 0);
        let ids = [1, 3, 2, 5, 4, 7, 6, 8, 10, 9];
        let mut disordered = Ids::new(true).sorted();
        ids.iter()
            .for_each(|&id| disordered.learn(Some(id), SeqNum::new(id.into()), 1));
        assert!(disordered.count_own());
        let in_sequence = learned(ids);
        assert!(!in_sequence.count_own(), "the network card numbered them");
        let among_others = learned([1, 4, 6, 9, 15, 16, 20, 24, 29, 33]);
        assert!(among_others.count() && !among_others.count_own());
        let zero = learned([7; 10]);
        assert_eq!(zero.before(Some(7), Some(7)), None);
        assert_eq!(zero.equal(Some(7), Some(7)), None);
        assert_eq!(learned([1, 2]).equal(Some(0), Some(0)), None);
        assert_eq!(Ids::default().equal(None, None), None);
    }
}
