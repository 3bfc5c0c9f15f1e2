//! Nagle's algorithm: a small segment was on its way, nothing else, and the next one left when it was acknowledged (RFC 1122
//! §4.2.3.4). With a receiver that delays its acknowledgement each such pair takes 40 to 200 ms.

use super::{Owner, Wait};
use crate::event::Direction;

pub(super) fn decide(wait: &Wait, _: Direction) -> Option<Owner> {
    let small = wait.lens[0] < wait.mss && wait.flight <= i64::from(wait.lens[0]);
    (small && wait.left == 0 && wait.clocked).then_some(Owner::Nagle)
}
