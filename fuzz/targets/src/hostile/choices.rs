//! Choices, made by bytes.

use arbitrary::Unstructured;

/// Bytes that choose. When they are used up, each choice is the first.
pub(super) struct Choices<'b>(Unstructured<'b>);

impl<'b> Choices<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Choices(Unstructured::new(bytes))
    }

    /// Whether all bytes are used up.
    pub fn are_over(&self) -> bool {
        self.0.is_empty()
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        let most = bound.saturating_sub(1);
        self.0.int_in_range(0..=most).unwrap_or(0)
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) + 1 == times
    }

    pub fn any_u32(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// One of some, each as likely as any other.
    pub fn of<T: Copy>(&mut self, some: &[T]) -> T {
        some[self.below(some.len() as u32) as usize]
    }

    /// One of some, each with its weight.
    pub fn weighted<T: Copy>(&mut self, some: &[(u32, T)]) -> T {
        let mut at = self.below(some.iter().map(|(weight, _)| weight).sum());
        for (weight, one) in some {
            match at.checked_sub(*weight) {
                Some(left) => at = left,
                None => return *one,
            }
        }
        some[0].1
    }
}
