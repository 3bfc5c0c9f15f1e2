//! Numbers that jump.

use super::choices::Choices;

/// What a plain segment carries.
pub(super) const MSS: u32 = 1_000;

/// How often numbers jump: one in so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jumps(pub u32);

impl Jumps {
    /// `plain`, or a number that lies from it as far as numbers of 32 bits do where comparisons change.
    pub fn from(self, plain: u32, choices: &mut Choices<'_>) -> u32 {
        if !choices.once_in(self.0) {
            return plain;
        }
        plain.wrapping_add(step(choices) as u32)
    }

    /// The same with 64 bits.
    pub fn jump_long(self, plain: u64, choices: &mut Choices<'_>) -> u64 {
        if !choices.once_in(self.0) {
            return plain;
        }
        let far = choices.of(&[0, 1 << 30, 1 << 31, 1 << 32, 1 << 33, 1 << 62, 1 << 63]);
        let step = step(choices).wrapping_add(far);
        plain.wrapping_add_signed(step)
    }
}

/// How far a number jumps.
fn step(choices: &mut Choices<'_>) -> i64 {
    let sign = choices.of(&[1, -1]);
    let far = match choices.below(10) {
        0 | 1 => 0,
        2..=4 => 1 << 30,
        5 => 1 << 31,
        6 => 1_i64 << choices.below(32),
        7 => 3 << 29,
        8 => 1 << 29,
        _ => i64::from(choices.any_u32()),
    };
    sign * far + nearby(choices)
}

/// Some segments or bytes on or back.
fn nearby(choices: &mut Choices<'_>) -> i64 {
    let some = i64::from(choices.below(7)) - 3;
    some * choices.of(&[1, i64::from(MSS), 0, 300])
}
