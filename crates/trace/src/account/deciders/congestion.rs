//! The congestion window: acknowledgements clock the sender, and neither the receiver nor a queue bounds its flight. It is
//! small after a loss until it is as large again, and at first until it no longer grows from round trip to round trip. Later it
//! grows by a segment in each: a flight that does not for several is bounded by something else. Where no acknowledgement comes, a
//! tail loss probe of new data shows that it was what held them back (RFC 8985 §7.3). Of a sender whose beginning did not come by it
//! is not known why its window is as small as it is, unless it grows to twice its size, or loses something.

use super::{Owner, Wait};

pub(super) fn decide(wait: &Wait, _: Owner) -> Option<Owner> {
    if wait.after_loss {
        return Some(Owner::SmallWindow);
    }
    let bounds = wait.grows || wait.probes || (wait.clocked && !wait.steady);
    bounds.then_some(match (wait.grows, wait.lost) {
        (false, true) => Owner::SmallWindow,
        (false, false) if !wait.whole => Owner::Unknown,
        _ => Owner::SlowStart,
    })
}
