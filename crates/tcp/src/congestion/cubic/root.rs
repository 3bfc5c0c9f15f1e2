//! The cube root that CUBIC's curve is laid out with.

/// First guesses of the cube roots of 8 to 63, in 64ths. They were set by hand, not by a formula, and decide the last
/// digits of every root (`cubic_root`), so they stand here as they are there.
#[rustfmt::skip]
const GUESSES: [u16; 56] = [
    133, 139, 144, 148, 153, 157, 161, 166, 167, 171, 174, 178, 180, 183, 186, 189, 191, 195, 197, 200, 202, 204, 207, 209,
    210, 212, 214, 216, 219, 221, 223, 225, 227, 229, 231, 232, 234, 235, 237, 239, 241, 242, 244, 246, 247, 249, 250, 252,
    254, 255, 256, 258, 260, 261, 262, 264,
];

/// The cube root of `n`, up to about 0.2 % off: a guess from its highest six bits, and one step of Newton's
/// (`cubic_root`).
pub fn cube_root(n: u64) -> u32 {
    match n {
        0 => return 0,
        1..=3 => return 1,
        4..=15 => return 2,
        16..=41 => return 3,
        42..=63 => return 4,
        _ => {}
    }
    let bits = 64 - n.leading_zeros();
    // A third of the bits, less one: what is left above three times as many is 8 to 63.
    let third = ((bits * 84) >> 8) - 1;
    let top = (n >> (third * 3)) as usize;
    let guess = (u32::from(GUESSES[top - 8]) << third) >> 6;
    let better = 2 * guess + (n / (u64::from(guess) * u64::from(guess - 1))) as u32;
    // A third, as 341 of 1024.
    (better * 341) >> 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_close_for_every_length_of_number() {
        for n in (0..46).flat_map(|bits| {
            [
                1_u64 << bits,
                (1 << bits) + (1 << bits) / 3,
                (2 << bits) - 1,
            ]
        }) {
            let exact = (n as f64).cbrt();
            let off = (f64::from(cube_root(n)) - exact).abs();
            assert!(
                off <= 1.0 + exact * 0.01,
                "{n}: {} for {exact}",
                cube_root(n)
            );
        }
    }
}
