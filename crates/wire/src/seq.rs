//! TCP sequence numbers.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A TCP sequence number (RFC 9293 §3.4): a point on a circle of 2³².
///
/// There is deliberately no `Ord`: before and after hold only between numbers less than 2³¹ apart
/// (serial number arithmetic, RFC 1982 §3.2), and a sort would silently break at the wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeqNum(u32);

impl SeqNum {
    /// The sequence number `value`.
    #[must_use]
    pub const fn new(value: u32) -> Self {
        SeqNum(value)
    }

    /// The number as it stands on the wire.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// How far `self` lies after `origin` the short way round: −2³¹ ..= 2³¹−1.
    #[must_use]
    pub const fn offset_from(self, origin: SeqNum) -> i32 {
        self.0.wrapping_sub(origin.0) as i32
    }

    /// Whether `self` comes before `other`, the short way round.
    #[must_use]
    pub const fn is_before(self, other: SeqNum) -> bool {
        self.offset_from(other) < 0
    }

    /// Whether `self` comes after `other`, the short way round. RFC 1982 §3.2 leaves two numbers
    /// exactly 2³¹ apart without an order; here each then comes before the other.
    #[must_use]
    pub const fn is_after(self, other: SeqNum) -> bool {
        self.offset_from(other) > 0
    }
}

impl Add<u32> for SeqNum {
    type Output = SeqNum;
    fn add(self, by: u32) -> SeqNum {
        SeqNum(self.0.wrapping_add(by))
    }
}

impl AddAssign<u32> for SeqNum {
    fn add_assign(&mut self, by: u32) {
        *self = *self + by;
    }
}

impl Sub<u32> for SeqNum {
    type Output = SeqNum;
    fn sub(self, by: u32) -> SeqNum {
        SeqNum(self.0.wrapping_sub(by))
    }
}

impl fmt::Display for SeqNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A half-open range of sequence numbers, `start` in and `end` out, less than 2³¹ long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SeqRange {
    /// The first number in the range.
    pub start: SeqNum,
    /// The first number after the range.
    pub end: SeqNum,
}

impl SeqRange {
    /// The range of `len` numbers from `start`.
    #[must_use]
    pub fn new(start: SeqNum, len: u32) -> Self {
        SeqRange {
            start,
            end: start + len,
        }
    }

    /// How many numbers lie in the range.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.end.0.wrapping_sub(self.start.0)
    }

    /// Whether the range holds nothing.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start.0 == self.end.0
    }

    /// Whether `seq` lies in the range.
    #[must_use]
    pub const fn contains(self, seq: SeqNum) -> bool {
        seq.0.wrapping_sub(self.start.0) < self.len()
    }

    /// Whether the two ranges share a number; an empty range shares none.
    #[must_use]
    pub const fn intersects(self, other: SeqRange) -> bool {
        (self.contains(other.start) && !other.is_empty())
            || (other.contains(self.start) && !self.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Origins that put a case before, across and after the wrap, and across the sign bit.
    const SLIDES: [u32; 9] = [
        0,
        1,
        100,
        0x7fff_ff00,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ff00,
        0xffff_fffe,
        0xffff_ffff,
    ];

    #[test]
    fn order_holds_wherever_it_is_slid() {
        for origin in SLIDES.map(SeqNum::new) {
            for step in [1, 2, 255, 65_536, 0x7fff_ffff] {
                let later = origin + step;
                assert!(origin.is_before(later) && later.is_after(origin));
                assert!(!later.is_before(origin) && !origin.is_after(later));
                assert_eq!(later.offset_from(origin), step as i32);
                assert_eq!(origin.offset_from(later), -(step as i32));
                assert_eq!(later - step, origin);
            }
            assert!(!origin.is_before(origin) && !origin.is_after(origin));
        }
    }

    #[test]
    fn ranges_are_half_open_wherever_they_are_slid() {
        for origin in SLIDES.map(SeqNum::new) {
            let range = SeqRange::new(origin, 10);
            assert_eq!(range.len(), 10);
            assert!(range.contains(origin) && range.contains(origin + 9));
            assert!(!range.contains(origin + 10) && !range.contains(origin - 1));
            assert!(range.intersects(SeqRange::new(origin + 9, 5)));
            assert!(range.intersects(SeqRange::new(origin - 5, 6)));
            assert!(range.intersects(SeqRange::new(origin - 5, 50)));
            assert!(!range.intersects(SeqRange::new(origin + 10, 5)));
            assert!(!range.intersects(SeqRange::new(origin - 5, 5)));
            assert!(!range.intersects(SeqRange::new(origin + 3, 0)));
            assert!(!SeqRange::new(origin + 3, 0).intersects(range));
            assert!(
                SeqRange::new(origin, 0).is_empty() && !SeqRange::new(origin, 0).contains(origin)
            );
        }
    }
}
