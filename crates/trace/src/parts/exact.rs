//! Values as bytes, and back, bit for bit.
//!
//! Numbers are written short (LEB128): seven bits a byte, the lowest first.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::{Duration, Time};
use rexmit_wire::{FlowKey, SeqNum, SeqRange};

use crate::account::Owner;

/// What is read makes no sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// Bytes that are read one after the other.
#[derive(Debug)]
pub(crate) struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Broken)?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    pub fn byte(&mut self) -> Result<u8, Broken> {
        let (&first, rest) = self.0.split_first().ok_or(Broken)?;
        self.0 = rest;
        Ok(first)
    }

    #[inline]
    pub fn number(&mut self) -> Result<u64, Broken> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        let mut number = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Broken)
    }

    #[inline]
    pub fn signed(&mut self) -> Result<i64, Broken> {
        let bits = self.number()?;
        Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }
}

/// Adds a number.
#[inline]
pub(crate) fn number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Adds a number that may be negative.
#[inline]
pub(crate) fn signed(to: &mut Vec<u8>, value: i64) {
    number(to, (value << 1 ^ value >> 63) as u64);
}

/// A value that is read as it was written.
pub(crate) trait Exact: Sized {
    fn write(&self, to: &mut Vec<u8>);

    /// # Errors
    /// When the bytes are no such value.
    fn read(from: &mut Input<'_>) -> Result<Self, Broken>;
}

/// A struct by its fields, all of them.
macro_rules! exact_struct {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::parts::Exact for $type {
            fn write(&self, to: &mut Vec<u8>) {
                let $type { $($field),+ } = self;
                $($crate::parts::Exact::write($field, to);)+
            }

            fn read(
                from: &mut $crate::parts::Input<'_>,
            ) -> Result<Self, $crate::parts::Broken> {
                Ok($type { $($field: $crate::parts::Exact::read(from)?),+ })
            }
        }
    };
}
pub(crate) use exact_struct;

/// An enum without data by its variants, all of them.
macro_rules! exact_enum {
    ($type:ident { $($variant:ident),+ $(,)? }) => {
        impl $crate::parts::Exact for $type {
            fn write(&self, to: &mut Vec<u8>) {
                // All variants are named, or this does not compile.
                match self { $($type::$variant => {}),+ }
                to.push(*self as u8);
            }

            fn read(
                from: &mut $crate::parts::Input<'_>,
            ) -> Result<Self, $crate::parts::Broken> {
                match from.byte()? {
                    $(byte if byte == $type::$variant as u8 => Ok($type::$variant),)+
                    _ => Err($crate::parts::Broken),
                }
            }
        }
    };
}
pub(crate) use exact_enum;

macro_rules! exact_numbers {
    ($($type:ty),+) => {$(
        impl Exact for $type {
            #[inline]
            fn write(&self, to: &mut Vec<u8>) {
                number(to, u64::from(*self));
            }

            #[inline]
            fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
                from.number()?.try_into().map_err(|_| Broken)
            }
        }
    )+};
}
exact_numbers!(u8, u16, u32, u64);

impl Exact for usize {
    fn write(&self, to: &mut Vec<u8>) {
        number(to, *self as u64);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        from.number()?.try_into().map_err(|_| Broken)
    }
}

impl Exact for bool {
    fn write(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Broken),
        }
    }
}

impl Exact for f64 {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend(self.to_bits().to_le_bytes());
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        let bytes = from.take(8)?.try_into().map_err(|_| Broken)?;
        Ok(f64::from_bits(u64::from_le_bytes(bytes)))
    }
}

impl<T: Exact> Exact for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        bool::read(from)?.then(|| T::read(from)).transpose()
    }
}

impl<T: Exact> Exact for Box<T> {
    fn write(&self, to: &mut Vec<u8>) {
        T::write(self, to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        T::read(from).map(Box::new)
    }
}

impl<T: Exact> Exact for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        self.iter().for_each(|one| one.write(to));
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        let count = usize::read(from)?;
        // A wrong number asks for no more memory than the bytes take.
        let mut all = Vec::with_capacity(count.min(from.0.len() / size_of::<T>().max(1)));
        for _ in 0..count {
            all.push(T::read(from)?);
        }
        Ok(all)
    }
}

impl<T: Exact, const N: usize> Exact for [T; N] {
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|one| one.write(to));
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        let mut all = Vec::with_capacity(N);
        for _ in 0..N {
            all.push(T::read(from)?);
        }
        all.try_into().map_err(|_| Broken)
    }
}

impl<A: Exact, B: Exact> Exact for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl<A: Exact, B: Exact, C: Exact> Exact for (A, B, C) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
        self.2.write(to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        Ok((A::read(from)?, B::read(from)?, C::read(from)?))
    }
}

impl<A: Exact, B: Exact, C: Exact, D: Exact> Exact for (A, B, C, D) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
        self.2.write(to);
        self.3.write(to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        Ok((
            A::read(from)?,
            B::read(from)?,
            C::read(from)?,
            D::read(from)?,
        ))
    }
}

impl Exact for String {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        to.extend(self.as_bytes());
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        let length = usize::read(from)?;
        let text = core::str::from_utf8(from.take(length)?).map_err(|_| Broken)?;
        Ok(text.to_owned())
    }
}

/// Words that were read and live as long as the program: names of stacks and systems, of which there are few.
static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Exact for &'static str {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        to.extend(self.as_bytes());
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        /// Words at most, and how long one is at most: no bytes that are broken fill the memory.
        const MOST: (usize, usize) = (4_096, 256);
        let length = usize::read(from)?;
        let word = core::str::from_utf8(from.take(length)?).map_err(|_| Broken)?;
        let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = words.get(word) {
            return Ok(known);
        }
        if words.len() >= MOST.0 || length > MOST.1 {
            return Err(Broken);
        }
        let word: &'static str = word.to_owned().leak();
        words.insert(word);
        Ok(word)
    }
}

impl Exact for Time {
    #[inline]
    fn write(&self, to: &mut Vec<u8>) {
        number(to, self.as_nanos());
    }

    #[inline]
    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        from.number().map(Time::from_nanos)
    }
}

impl Exact for Duration {
    #[inline]
    fn write(&self, to: &mut Vec<u8>) {
        signed(to, self.as_nanos());
    }

    #[inline]
    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        from.signed().map(Duration::from_nanos)
    }
}

impl Exact for IpAddr {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            IpAddr::V4(address) => {
                to.push(4);
                to.extend(address.octets());
            }
            IpAddr::V6(address) => {
                to.push(6);
                to.extend(address.octets());
            }
        }
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        match from.byte()? {
            4 => {
                let octets: [u8; 4] = from.take(4)?.try_into().map_err(|_| Broken)?;
                Ok(IpAddr::V4(Ipv4Addr::from(octets)))
            }
            6 => {
                let octets: [u8; 16] = from.take(16)?.try_into().map_err(|_| Broken)?;
                Ok(IpAddr::V6(Ipv6Addr::from(octets)))
            }
            _ => Err(Broken),
        }
    }
}

impl Exact for Ipv4Addr {
    fn write(&self, to: &mut Vec<u8>) {
        self.to_bits().write(to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        u32::read(from).map(Ipv4Addr::from_bits)
    }
}

exact_struct!(FlowKey {
    src,
    dst,
    src_port,
    dst_port
});

impl Exact for SeqNum {
    fn write(&self, to: &mut Vec<u8>) {
        self.get().write(to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        u32::read(from).map(SeqNum::new)
    }
}

exact_struct!(SeqRange { start, end });

/// A word of a list by its place.
macro_rules! exact_words {
    ($($type:ident),+) => {$(
        impl Exact for $type {
            fn write(&self, to: &mut Vec<u8>) {
                let place = $type::ALL.iter().position(|one| one == self);
                to.push(place.map_or(u8::MAX, |place| place as u8));
            }

            fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
                $type::ALL.get(usize::from(from.byte()?)).copied().ok_or(Broken)
            }
        }
    )+};
}
exact_words!(Mechanism, Need, Owner);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn again<T: Exact>(value: &T) -> (T, usize) {
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        let mut input = Input(&bytes);
        let read = T::read(&mut input).unwrap();
        (read, input.0.len())
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(one: u64, two: i64, three: f64, four: Option<u16>) {
            prop_assert_eq!(again(&one), (one, 0));
            let length = Duration::from_nanos(two);
            prop_assert_eq!(again(&length), (length, 0));
            prop_assert_eq!(again(&three).0.to_bits(), three.to_bits());
            prop_assert_eq!(again(&vec![four, None]), (vec![four, None], 0));
        }

        #[test]
        fn any_bytes_are_a_value_or_broken(bytes: Vec<u8>) {
            let _ = Vec::<(Time, Option<String>)>::read(&mut Input(&bytes));
            let _ = Vec::<FlowKey>::read(&mut Input(&bytes));
        }
    }

    #[test]
    fn words_are_the_same_word_again() {
        for word in ["linux-6", "", "linux-6"] {
            assert_eq!(again(&word), (word, 0));
        }
        for mechanism in Mechanism::ALL {
            assert_eq!(again(mechanism), (*mechanism, 0));
        }
        assert_eq!(Mechanism::read(&mut Input(&[99])), Err(Broken));
        assert_eq!(bool::read(&mut Input(&[2])), Err(Broken));
        assert_eq!(u16::read(&mut Input(&[0xff, 0xff, 0x7f])), Err(Broken));
    }
}
