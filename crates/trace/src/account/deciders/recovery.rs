//! The repair of a loss: from the first retransmission until all that was sent before it has arrived. By what the loss was
//! found is known when the connection has ended.

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    (!wait.repaired).then_some(Owner::RecoveryFast)
}
