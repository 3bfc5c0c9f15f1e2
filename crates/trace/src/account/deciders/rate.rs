//! The path's rate: acknowledgements clock the sender, and packets queue, so that more of them in flight arrive no sooner
//! (Zhang et al. 2002, *bandwidth limited*).

use super::{Owner, Wait};

/// Packets of a flight that can fill a queue, at least; a receiver delays the acknowledgements of fewer.
pub(in crate::account) const LEAST: i64 = 4;

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    let queued = wait.queued && wait.flight >= i64::from(wait.mss) * LEAST;
    queued.then_some(Owner::PathRate)
}
