//! The congestion window: acknowledgements clock the sender, and neither the receiver nor a queue bounds its flight. It is
//! small after a loss until it is as large again, and at first until it no longer grows from round trip to round trip.

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    if wait.after_loss {
        Some(Owner::SmallWindow)
    } else {
        wait.grows.then_some(Owner::SlowStart)
    }
}
