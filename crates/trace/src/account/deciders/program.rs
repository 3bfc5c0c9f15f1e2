//! The sender itself: it sent without having heard anything that allowed it to. With nothing in flight its program had been
//! silent; with something in flight its program, its buffer or its pacing held it up (Siekkinen et al. 2008: *application*;
//! Zhang et al. 2002: *sender window limited*). But one that paces (BBR) spreads over a round trip what a window that opened, or a
//! full path, lets it send. And so did what lies below TCP in its host, a shaper or a link's queue, where what passes beside it had
//! been put together long before.

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, program: Owner) -> Option<Owner> {
    if wait.own_queue {
        return Some(Owner::Sender);
    }
    match (wait.clocked, wait.left) {
        (true, _) => None,
        // What was lost may have been sent at any time before.
        (false, 0) if wait.gap => Some(Owner::Unknown),
        (false, 0) => Some(program),
        (false, _) if wait.probes => None,
        (false, _) => Some(wait.paced.unwrap_or(Owner::Sender)),
    }
}
