//! What was found of signatures, remembered: hosts send few different SYNs, very many times.

use super::systems::system;
use super::Signature;

/// Signatures that are remembered, by a hash: two of the same take turns. Most captures have some dozens.
const MOST: usize = 256;

/// What was found of signatures.
#[derive(Debug, Default)]
pub(crate) struct Known {
    systems: Memory<Option<&'static str>>,
    written: Memory<String>,
}

impl Known {
    /// The system that a signature names, as [`system`] finds it.
    pub fn system(&mut self, signature: &Signature) -> Option<&'static str> {
        *self.systems.get(signature, system)
    }

    /// A signature as text.
    pub fn written(&mut self, signature: &Signature) -> &str {
        self.written.get(signature, Signature::written)
    }
}

/// One thing that was found of signatures.
#[derive(Debug)]
struct Memory<T> {
    /// None before the first.
    places: Vec<Option<(Signature, T)>>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Memory { places: Vec::new() }
    }
}

impl<T> Memory<T> {
    /// What is known of a signature, which is found where it is not known.
    fn get(&mut self, signature: &Signature, find: impl FnOnce(&Signature) -> T) -> &T {
        if self.places.is_empty() {
            self.places.resize_with(MOST, || None);
        }
        let place = &mut self.places[place(signature)];
        if place.as_ref().is_none_or(|(known, _)| known != signature) {
            *place = None;
        }
        let (_, found) = place.get_or_insert_with(|| (*signature, find(signature)));
        found
    }
}

/// Where a signature stands, by what differs most.
fn place(signature: &Signature) -> usize {
    let mss = u64::from(signature.mss.unwrap_or(0));
    let scale = u64::from(signature.scale.unwrap_or(u8::MAX));
    let options = signature.options.options().len() as u64;
    let numbers = u64::from(signature.bytes) << 48 | mss << 32 | scale << 24 | options << 16;
    let rest = u64::from(signature.ttl) << 1 | u64::from(signature.answer);
    // Fibonacci hashing: the upper bits of the product depend on all bits below.
    let hash = (numbers | rest).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    hash as usize % MOST
}

#[cfg(test)]
mod tests {
    use rexmit_wire::headers::OptionLayout;

    use super::super::SynWindow;
    use super::*;

    fn signature(bytes: u16) -> Signature {
        Signature {
            ttl: 64,
            mss: Some(1460),
            window: SynWindow::Bytes(bytes),
            bytes,
            scale: None,
            options: OptionLayout::default(),
            answer: false,
            offered: None,
            dont_fragment: true,
        }
    }

    #[test]
    fn each_signature_is_told_from_all_others_in_its_place() {
        let mut known = Known::default();
        for _ in 0..2 {
            for bytes in 0..2 * MOST as u16 {
                let signature = signature(bytes);
                assert_eq!(known.written(&signature), signature.written());
                assert_eq!(known.system(&signature), system(&signature));
            }
        }
    }

    #[test]
    fn what_is_known_is_not_found_again() {
        let mut memory = Memory::default();
        assert_eq!(*memory.get(&signature(1), |_| 1), 1);
        assert_eq!(*memory.get(&signature(1), |_| 2), 1);
        let other = Signature {
            answer: true,
            ..signature(1)
        };
        assert_eq!(*memory.get(&other, |_| 2), 2);
    }
}
