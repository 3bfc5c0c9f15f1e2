//! Values in as few bytes as they need, for what is kept of quiet connections.

use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::parts::{write, Input};

/// Bytes that are written.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    /// A number, or a value of more parts.
    pub fn value(&mut self, value: &impl Serialize) {
        write(value, &mut self.0);
    }

    /// A number near another, around the end of all numbers, too.
    pub fn difference(&mut self, number: u32, near: u32) {
        self.value(&(number.wrapping_sub(near) as i32));
    }

    /// What was written, in a block of its size: one that is made smaller may stay as large as it was.
    pub fn into_bytes(self) -> Box<[u8]> {
        Box::from(self.0.as_slice())
    }
}

/// Bytes that are read as they were written; behind their end there are zeros.
#[derive(Debug)]
pub(super) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader(bytes)
    }

    pub fn difference(&mut self, near: u32) -> u32 {
        near.wrapping_add(self.value::<i32>() as u32)
    }

    pub fn value<T: DeserializeOwned + Default>(&mut self) -> T {
        let mut input = Input(self.0);
        let value = input.value().unwrap_or_default();
        self.0 = input.0;
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in proptest::collection::vec((any::<u64>(), any::<i64>(), any::<(u32, u32)>(), any::<u8>()), 0..40)) {
            let mut written = Writer::default();
            for (number, signed, (one, other), byte) in &numbers {
                written.value(number);
                written.value(signed);
                written.difference(*one, *other);
                written.value(byte);
            }
            let bytes = written.into_bytes();
            let mut read = Reader::new(&bytes);
            for (number, signed, (one, other), byte) in numbers {
                prop_assert_eq!(read.value::<u64>(), number);
                prop_assert_eq!(read.value::<i64>(), signed);
                prop_assert_eq!(read.difference(other), one);
                prop_assert_eq!(read.value::<u8>(), byte);
            }
        }
    }

    #[test]
    fn what_is_near_takes_a_byte() {
        let mut written = Writer::default();
        written.difference(3, u32::MAX - 3);
        written.difference(u32::MAX, 0);
        written.value(&127_u64);
        assert_eq!(written.into_bytes().len(), 3);
    }
}
