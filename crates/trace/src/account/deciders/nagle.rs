//! Nagle's algorithm against a delayed acknowledgement: one packet was on its way, nothing else, and a small one left when it was
//! acknowledged (RFC 1122 §4.2.3.4), later than a round trip takes, 40 to 200 ms as a rule. Without the delay a pair takes a round
//! trip more, as a program does that waits for an answer. Linux holds a small packet back for small ones alone (Minshall,
//! `tcp_minshall_check`), others for full ones, too; but after a loss the window may have had room for one.

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    let alone = wait.left == 0 && wait.flight <= i64::from(wait.lens[0]);
    let held = wait.lens[1] < wait.mss && (wait.lens[0] < wait.mss || !wait.after_loss);
    (alone && held && wait.clocked && wait.delayed).then_some(Owner::Nagle)
}
