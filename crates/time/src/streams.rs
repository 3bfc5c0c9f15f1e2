//! Named random streams.

use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// All random streams of a run, made from its one seed.
///
/// A stream is told by its name and an index (`("phase", cell)`), so that a new use of randomness
/// somewhere never shifts the numbers that another part draws.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Streams { seed }
    }

    /// The stream `name`, number `index`, from its beginning.
    ///
    /// The cipher's key is seed, 128-bit FNV-1a of the name and index side by side, so streams of
    /// different seeds or indices never coincide. The values are fixed: they are the same in every
    /// version of rexmit.
    #[must_use]
    pub fn stream(&self, name: &str, index: u64) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..24].copy_from_slice(&fnv1a_128(name.as_bytes()).to_le_bytes());
        key[24..].copy_from_slice(&index.to_le_bytes());
        Stream {
            cipher: ChaCha8Rng::from_seed(key),
        }
    }
}

/// One random stream (ChaCha with 8 rounds).
#[derive(Clone, Debug)]
pub struct Stream {
    cipher: ChaCha8Rng,
}

impl Stream {
    /// Goes on at the first of the eight numbers that are `ordinal`'s own, whatever was drawn before.
    pub fn go_to(&mut self, ordinal: u64) {
        const BLOCK_WORDS: u128 = 16;
        self.cipher.set_word_pos(u128::from(ordinal) * BLOCK_WORDS);
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.cipher.next_u64()
    }

    /// A number in [0, 1), uniform over the multiples of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in 0..`bound`, uniform (Lemire's method with rejection); 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg().checked_rem(bound).unwrap_or(0) {
                return (product >> 64) as u64;
            }
        }
    }
}

/// FNV-1a over 128 bits (draft-eastlake-fnv, offset basis and prime of its section 5).
fn fnv1a_128(bytes: &[u8]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(BASIS, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_same_in_every_version() {
        // Made with an independent ChaCha8 over the key that the documentation describes.
        let mut a = Streams::new(1).stream("boot", 0);
        assert_eq!(
            [a.next_u64(), a.next_u64(), a.next_u64(), a.next_u64()],
            [
                0xeced_20ee_ee45_220b,
                0xc274_81cb_6a5c_6e6e,
                0xd86a_bcfe_846a_1e75,
                0x16fd_bb57_20da_8a8f
            ]
        );
        let mut b = Streams::new(u64::MAX).stream("phase", 17);
        assert_eq!(
            [b.next_u64(), b.next_u64()],
            [0x5fcc_ac6d_8569_b291, 0x0444_9055_8df2_c4ef]
        );
        assert_eq!(b.uniform(), 0.777657256751213);
        assert_eq!(b.below(1_000), 155);
    }

    #[test]
    fn fnv_gives_its_published_values() {
        assert_eq!(fnv1a_128(b""), 0x6c62272e07bb014262b821756295c58d);
        assert_eq!(fnv1a_128(b"a"), 0xd228cb696f1a8caf78912b704e4a8964);
    }

    #[test]
    fn streams_differ_by_seed_name_and_index() {
        let first = |seed, name, index| Streams::new(seed).stream(name, index).next_u64();
        let all = [
            first(1, "a", 0),
            first(2, "a", 0),
            first(1, "b", 0),
            first(1, "a", 1),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(first(1, "a", 0), all[0]);
    }

    #[test]
    fn what_an_ordinal_draws_does_not_depend_on_what_was_drawn_before() {
        let mut in_turn = Streams::new(3).stream("test", 2);
        let all: Vec<u64> = (0..24).map(|_| in_turn.next_u64()).collect();
        let mut stream = Streams::new(3).stream("test", 2);
        for ordinal in [2, 0, 1] {
            stream.go_to(ordinal);
            let own = [stream.next_u64(), stream.next_u64()];
            let first = 8 * ordinal as usize;
            assert_eq!(own, all[first..first + 2]);
        }
    }

    #[test]
    fn uniform_numbers_stay_in_range_and_spread() {
        let mut stream = Streams::new(3).stream("test", 0);
        let drawn: Vec<f64> = (0..10_000).map(|_| stream.uniform()).collect();
        assert!(drawn.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
    }

    #[test]
    fn bounded_numbers_stay_below_the_bound() {
        let mut stream = Streams::new(3).stream("test", 1);
        assert!((0..1_000).all(|_| stream.below(7) < 7));
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.below(1), 0);
    }
}
