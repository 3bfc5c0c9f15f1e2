//! Pieces of what was sent: how they are found by their places, and cut.

use core::ops::{Deref, DerefMut};

use rexmit_wire::SeqNum;

use crate::sequence::Sequence;

/// Pieces that one packet, or one report of a duplicate, is held against: more than the largest packet that a network card cuts
/// (64 kB) has been sent in.
pub const MOST_PARTS: usize = 128;

/// A place in a stream: on a line, or a number that has an order with all others that are held.
pub trait Place: Copy {
    /// How far it lies after another.
    fn after(self, other: Self) -> i64;
}

impl Place for i64 {
    fn after(self, other: i64) -> i64 {
        self.saturating_sub(other)
    }
}

impl Place for SeqNum {
    fn after(self, other: SeqNum) -> i64 {
        self.offset_from(other).into()
    }
}

/// What holds of `start..end`, which is never empty.
#[derive(Clone, Copy, Debug)]
pub struct Piece<P, T> {
    pub start: P,
    pub end: P,
    pub what: T,
}

impl<P, T> Deref for Piece<P, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

impl<P, T> DerefMut for Piece<P, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.what
    }
}

/// Pieces in the order of their places, which do not overlap.
impl<P: Place, T: Clone> Sequence<Piece<P, T>> {
    /// The index of the first piece that ends after `place`.
    #[inline]
    pub fn find(&self, place: P) -> usize {
        let (Some(first), Some(last)) = (self.front(), self.back()) else {
            return 0;
        };
        if place.after(last.start) >= 0 {
            return self.len() - usize::from(place.after(last.end) < 0);
        }
        // Most pieces are as long as the others.
        let above = place.after(first.start).max(0).unsigned_abs();
        let all = last.end.after(first.start).unsigned_abs();
        let guess = above.saturating_mul(self.len() as u64) / all;
        self.partition_near(guess as usize, |piece| piece.end.after(place) <= 0)
    }

    /// The index of the first piece that begins at or after `place`, and whether a piece across it was cut there.
    pub fn cut(&mut self, place: P) -> (usize, bool) {
        let index = self.find(place);
        let across = |piece: &&mut Piece<P, T>| piece.start.after(place) < 0;
        let Some(piece) = self.get_mut(index).filter(across) else {
            return (index, false);
        };
        let mut rest = piece.clone();
        rest.start = place;
        piece.end = place;
        self.insert(index + 1, rest);
        (index + 1, true)
    }
}
