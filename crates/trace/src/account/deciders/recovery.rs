//! The repair of a loss: from the first retransmission until all that was sent before it has arrived. By what the loss was
//! found is known when the connection has ended.

use super::{Owner, Wait};
use crate::event::Direction;

pub(super) fn decide(wait: &Wait, _: Direction) -> Option<Owner> {
    (!wait.repaired).then_some(Owner::RecoveryFast)
}
