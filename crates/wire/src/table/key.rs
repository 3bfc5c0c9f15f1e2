//! Hashes that nobody can reckon who does not know a key.
//!
//! Addresses and ports come from whoever sends packets: with a hash that is known, he chooses those that share a place of a
//! table, and every look at it goes over all of them.

use core::fmt;
use core::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

/// What a hash depends on besides what is hashed: secret, so that what collides cannot be chosen.
///
/// A word is taken in by a multiplication of 64 by 64 bits whose upper and lower half are folded together, as wyhash,
/// rapidhash and foldhash do: every bit of the result depends on every bit of the word. The known sets of words that collide
/// in these need a multiplier, or the state before it: here both are secret, and only one word, which nobody knows, makes a
/// product of 0. Over all keys, two chosen words meet in 64 bits about as rarely as two random ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    start: u64,
    multiplier: u64,
    last: u64,
}

static OF_PROCESS: OnceLock<Key> = OnceLock::new();

impl Key {
    /// The same key in every run of every program: for tests, and for what nobody outside chooses.
    pub const FIXED: Key = Key::new([
        0x243f_6a88_85a3_08d3,
        0x1319_8a2e_0370_7344,
        0xa409_3822_299f_31d0,
    ]);

    /// A key of three words, each of which is drawn by chance.
    #[must_use]
    pub const fn new(words: [u64; 3]) -> Self {
        let [start, multiplier, last] = words;
        // No power of two divides a multiplier.
        Key {
            start,
            multiplier: multiplier | 1,
            last: last | 1,
        }
    }

    /// The key of all tables of this process: what [`Key::become_that_of_process`] was given, or else the fixed one.
    #[inline]
    #[must_use]
    pub fn of_process() -> Self {
        *OF_PROCESS.get_or_init(|| Key::FIXED)
    }

    /// Takes this key for all tables of this process; whether it did. It does so once, before anything is hashed: this crate
    /// draws nothing by chance itself.
    pub fn become_that_of_process(self) -> bool {
        OF_PROCESS.set(self).is_ok()
    }

    /// What tells this key from others and does not tell the key.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.hash_one(0u64)
    }
}

/// That of the process.
impl Default for Key {
    #[inline]
    fn default() -> Self {
        Key::of_process()
    }
}

impl fmt::Debug for Key {
    /// As secret as it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl BuildHasher for Key {
    type Hasher = Folded;

    #[inline]
    fn build_hasher(&self) -> Folded {
        Folded {
            state: self.start,
            multiplier: self.multiplier,
            last: self.last,
        }
    }
}

/// Hashes by a [`Key`], a word at a time.
#[derive(Clone, Copy)]
pub struct Folded {
    state: u64,
    multiplier: u64,
    last: u64,
}

/// The two halves of a product, each bit of which depends on half of the bits of the factors at least.
#[inline]
const fn fold(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    (product >> 64) as u64 ^ product as u64
}

impl Hasher for Folded {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.state = fold(self.state ^ word, self.multiplier);
    }

    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for some in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..some.len()].copy_from_slice(some);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_usize(bytes.len());
    }

    #[inline]
    fn finish(&self) -> u64 {
        fold(self.state, self.last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const KEYS: [Key; 3] = [
        Key::FIXED,
        Key::new([1, 0x5bc8_fbbc_bde5_c099, 0x87b0_b125_ec1d_7da0]),
        Key::new([u64::MAX, 0xd76d_4330_f144_6bea, 0x0d46_4138_a623_3255]),
    ];

    /// Words of the ends of connections, lower one first, that one unkeyed multiplicative hash brought together: of each the
    /// lower 38 bits of the second word follow from the first, and the upper ones were never looked at.
    fn chosen() -> impl Iterator<Item = (u64, u64)> {
        const MULTIPLIER: u64 = 0xf135_7aea_2e62_a9c5;
        (1..=100u64).flat_map(|port| {
            let one = 0x0a01_0203 << 16 | port;
            let low =
                0x34_5678_90ab_u64.wrapping_sub(one.wrapping_mul(MULTIPLIER)) & ((1 << 38) - 1);
            (64..896u64).map(move |top| (one, top << 38 | low))
        })
    }

    #[test]
    fn words_that_another_hash_brings_together_are_apart() {
        let count = chosen().count();
        for key in KEYS {
            for half in [0, 32] {
                let hashes: BTreeSet<u32> = chosen()
                    .map(|words| (key.hash_one(words) >> half) as u32)
                    .collect();
                // By chance less than one pair of them is expected to meet in 32 bits.
                assert!(count - hashes.len() < 10, "{} of {count}", hashes.len());
            }
        }
    }

    #[test]
    fn every_bit_changes_about_half_of_the_bits() {
        for key in KEYS {
            for bit in 0..128 {
                let changed: u32 = (0..256u64)
                    .map(|n| {
                        let words = [n.wrapping_mul(0x1_0001), n << 20];
                        let mut other = words;
                        other[bit / 64] ^= 1 << (bit % 64);
                        let of = |words: [u64; 2]| key.hash_one((words[0], words[1]));
                        (of(words) ^ of(other)).count_ones()
                    })
                    .sum();
                let share = f64::from(changed) / (256.0 * 64.0);
                assert!((0.4..0.6).contains(&share), "bit {bit}: {share}");
            }
        }
    }

    #[test]
    fn keys_do_not_agree() {
        let shares = |one: Key, other: Key| {
            let alike = |words: &(u64, u64)| one.hash_one(words) % 16 == other.hash_one(words) % 16;
            chosen().filter(alike).count() as f64 / chosen().count() as f64
        };
        assert!((0.05..0.075).contains(&shares(KEYS[0], KEYS[1])));
        assert!((0.05..0.075).contains(&shares(KEYS[1], KEYS[2])));
        assert_ne!(KEYS[0].mark(), KEYS[1].mark());
    }

    #[test]
    fn what_it_is_is_not_shown() {
        assert_eq!(format!("{:?}", KEYS[1]), format!("{:?}", KEYS[2]));
    }

    #[test]
    fn bytes_are_told_from_more_bytes() {
        let of = |bytes: &[u8]| {
            let mut hasher = Key::FIXED.build_hasher();
            hasher.write(bytes);
            hasher.finish()
        };
        assert_ne!(of(b"abc"), of(b"abc\0"));
        assert_ne!(of(b"12345678"), of(b"12345678\0"));
        assert_eq!(of(b"123456789"), of(b"123456789"));
    }
}
