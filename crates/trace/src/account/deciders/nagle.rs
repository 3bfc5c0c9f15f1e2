//! Nagle's algorithm against a delayed acknowledgement: a small segment was on its way, nothing else, and the next one left when
//! it was acknowledged (RFC 1122 §4.2.3.4), later than a round trip takes, 40 to 200 ms as a rule. Without the delay a pair takes
//! a round trip more, as a program does that waits for an answer.

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    let small = wait.lens[0] < wait.mss && wait.flight <= i64::from(wait.lens[0]);
    (small && wait.left == 0 && wait.clocked && wait.delayed).then_some(Owner::Nagle)
}
