//! Sequence numbers laid out on a line that does not wrap.

use rexmit_wire::{SeqNum, SeqRange};

/// Places of one view's sequence numbers, counted from the first that was seen.
///
/// A number is placed the short way round from one whose place is known, so that a connection may wrap any number of times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeqSpace {
    origin: SeqNum,
}

impl SeqSpace {
    /// A line on which `origin` has place 0.
    pub(crate) const fn new(origin: SeqNum) -> Self {
        SeqSpace { origin }
    }

    /// The place of `seq` nearest to the place `near`.
    pub(crate) const fn place(self, seq: SeqNum, near: i64) -> i64 {
        near + seq.offset_from(self.seq(near)) as i64
    }

    /// The number at a place.
    pub(crate) const fn seq(self, place: i64) -> SeqNum {
        SeqNum::new(self.origin.get().wrapping_add(place as u32))
    }

    /// The numbers between two places.
    pub(crate) const fn range(self, start: i64, end: i64) -> SeqRange {
        SeqRange {
            start: self.seq(start),
            end: self.seq(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_on_through_every_wrap() {
        for origin in [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] {
            let line = SeqSpace::new(SeqNum::new(origin));
            let mut near = 0;
            let mut seq = SeqNum::new(origin);
            for step in 1..=20_i64 {
                seq += 0x3fff_ffff;
                near = line.place(seq, near);
                assert_eq!(near, step * 0x3fff_ffff);
                assert_eq!(line.seq(near), seq);
            }
            assert_eq!(line.place(SeqNum::new(origin) - 5, 0), -5);
            assert_eq!(line.seq(-5), SeqNum::new(origin) - 5);
        }
    }
}
