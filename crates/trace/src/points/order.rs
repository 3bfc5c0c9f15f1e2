//! In which order packets of a direction come past the points.

use super::MOST_POINTS;

/// How often a packet came by at one point before it did at another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Precedence([[u32; MOST_POINTS]; MOST_POINTS]);

impl Precedence {
    /// A packet came by at `one`, then at `other`.
    pub fn note(&mut self, one: usize, other: usize) {
        self.0[one][other] = self.0[one][other].saturating_add(1);
    }

    /// Whether anything is known.
    pub fn is_empty(&self) -> bool {
        self.0 == [[0; MOST_POINTS]; MOST_POINTS]
    }

    /// That of the other direction.
    pub fn reversed(&self) -> Self {
        let mut turned = Precedence::default();
        for (one, counts) in self.0.iter().enumerate() {
            for (other, &count) in counts.iter().enumerate() {
                turned.0[other][one] = count;
            }
        }
        turned
    }

    /// Adds those of another.
    pub fn add(&mut self, more: &Precedence) {
        for (counts, others) in self.0.iter_mut().zip(&more.0) {
            for (count, other) in counts.iter_mut().zip(others) {
                *count = count.saturating_add(*other);
            }
        }
    }

    /// Whether packets come by at `one` before `other`, as most did.
    pub fn is_before(&self, one: usize, other: usize) -> bool {
        self.0[one][other] > self.0[other][one]
    }

    /// Some of the points in their order, of equals as they were given.
    pub fn sequence(&self, points: impl Iterator<Item = usize>) -> PointSequence {
        let mut line = PointSequence::default();
        for point in points {
            // Behind the last one that comes before it.
            let mut at = line.len;
            while at > 0 && self.is_before(point, line.points[at - 1]) {
                line.points[at] = line.points[at - 1];
                at -= 1;
            }
            line.points[at] = point;
            line.len += 1;
        }
        line
    }
}

/// Points in the order in which packets come past them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PointSequence {
    points: [usize; MOST_POINTS],
    len: usize,
}

impl core::ops::Deref for PointSequence {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.points[..self.len]
    }
}
