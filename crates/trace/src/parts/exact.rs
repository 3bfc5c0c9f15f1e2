//! Values as bytes, and back, bit for bit, in the form of postcard: numbers are short.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use postcard::ser_flavors::Flavor;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use crate::rows::Word;

/// What is read makes no sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// Bytes that are read one after the other.
#[derive(Debug)]
pub(crate) struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    /// The next value.
    ///
    /// # Errors
    /// When the bytes are no such value.
    #[inline]
    pub fn value<T: DeserializeOwned>(&mut self) -> Result<T, Broken> {
        let (value, rest) = postcard::take_from_bytes(self.0).map_err(|_| Broken)?;
        self.0 = rest;
        Ok(value)
    }
}

/// Adds a value to bytes.
#[inline]
pub(crate) fn write<T: Serialize + ?Sized>(value: &T, to: &mut Vec<u8>) {
    let written = postcard::serialize_with_flavor(value, Bytes(to));
    written.expect("of every list it is known how long it is");
}

/// Where bytes are added.
struct Bytes<'v>(&'v mut Vec<u8>);

impl Flavor for Bytes<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Words that were read: names of stacks and systems, of which there are few.
static WORDS: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());

/// A word that is read.
pub(crate) struct Known(pub Word);

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        /// Words at most, and how long one is at most: no bytes that are broken fill the memory.
        const MOST: (usize, usize) = (4_096, 256);
        let word = <&str>::deserialize(from)?;
        let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = words.get(word) {
            return Ok(Known(known));
        }
        if words.len() >= MOST.0 || word.len() > MOST.1 {
            return Err(D::Error::custom("more words than there are"));
        }
        let word: Word = word.to_owned().leak();
        words.insert(word);
        Ok(Known(word))
    }
}

/// Reads a word.
pub(crate) fn word<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    Known::deserialize(from).map(|known| known.0)
}

/// Reads a word that need not be there.
pub(crate) fn any_word<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    Option::<Known>::deserialize(from).map(|known| known.map(|known| known.0))
}

/// Reads words.
pub(crate) fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Word>, D::Error> {
    let all = Vec::<Known>::deserialize(from)?;
    Ok(all.into_iter().map(|known| known.0).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rexmit_tcp::Mechanism;
    use rexmit_time::{Duration, Time};
    use rexmit_wire::FlowKey;

    use super::*;

    fn again<T: Serialize + DeserializeOwned>(value: &T) -> (T, usize) {
        let mut bytes = Vec::new();
        write(value, &mut bytes);
        let mut input = Input(&bytes);
        let read = input.value().unwrap();
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
            let _ = Input(&bytes).value::<Vec<(Time, Option<String>)>>();
            let _ = Input(&bytes).value::<Vec<FlowKey>>();
        }
    }

    #[test]
    fn words_are_the_same_word_again() {
        for text in ["linux-6", "", "linux-6"] {
            let mut bytes = Vec::new();
            write(text, &mut bytes);
            let mut input = Input(&bytes);
            assert_eq!(input.value().map(|Known(word)| word), Ok(text));
            assert!(input.0.is_empty());
        }
        let mut bytes = Vec::new();
        write(&"x".repeat(300), &mut bytes);
        assert!(Input(&bytes).value::<Known>().is_err());
        for mechanism in Mechanism::ALL {
            assert_eq!(again(mechanism), (*mechanism, 0));
        }
        assert_eq!(Input(&[99]).value::<Mechanism>(), Err(Broken));
        assert_eq!(Input(&[2]).value::<bool>(), Err(Broken));
        assert_eq!(Input(&[0xff, 0xff, 0x7f]).value::<u16>(), Err(Broken));
    }
}
