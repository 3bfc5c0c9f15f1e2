//! Numbers in as few bytes as they need (LEB128, as protocol buffers have it), for what is kept of quiet connections.

use crate::parts::{Exact, Input};

/// Bytes that are written.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Seven bits a byte, the lower ones first.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// The sign is the lowest bit, so that small numbers of either sign are short.
    pub fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    /// A number near another, around the end of all numbers, too.
    pub fn difference(&mut self, number: u32, near: u32) {
        self.signed(i64::from(number.wrapping_sub(near) as i32));
    }

    /// A value of more parts.
    pub fn exact(&mut self, value: &impl Exact) {
        value.write(&mut self.0);
    }

    /// What was written, in a block of its size: one that is made smaller may stay as large as it was.
    pub fn into_bytes(self) -> Box<[u8]> {
        Box::from(self.0.as_slice())
    }
}

/// Bytes that are read as they were written; behind their end there are zeros.
#[derive(Debug)]
pub(super) struct Reader<'b>(core::slice::Iter<'b, u8>);

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader(bytes.iter())
    }

    pub fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    pub fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    pub fn signed(&mut self) -> i64 {
        let number = self.number();
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }

    pub fn difference(&mut self, near: u32) -> u32 {
        near.wrapping_add(self.signed() as u32)
    }

    pub fn exact<T: Exact + Default>(&mut self) -> T {
        let mut input = Input(self.0.as_slice());
        let value = T::read(&mut input).unwrap_or_default();
        self.0 = input.0.iter();
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
                written.number(*number);
                written.signed(*signed);
                written.difference(*one, *other);
                written.byte(*byte);
            }
            let bytes = written.into_bytes();
            let mut read = Reader::new(&bytes);
            for (number, signed, (one, other), byte) in numbers {
                prop_assert_eq!(read.number(), number);
                prop_assert_eq!(read.signed(), signed);
                prop_assert_eq!(read.difference(other), one);
                prop_assert_eq!(read.byte(), byte);
            }
        }
    }

    #[test]
    fn what_is_near_takes_a_byte() {
        let mut written = Writer::default();
        written.difference(3, u32::MAX - 3);
        written.difference(u32::MAX, 0);
        written.number(127);
        assert_eq!(written.into_bytes().len(), 3);
    }
}
