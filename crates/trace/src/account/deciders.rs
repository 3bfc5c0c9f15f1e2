//! Why a sender waited before it sent more: a decider a cause, asked in this order.

mod congestion;
mod nagle;
mod program;
pub(super) mod rate;
mod recovery;
mod window;

use super::owner::Owner;
use super::wait::Wait;

/// Whose a wait is, if it is for this cause; `program` is whose a silence would be.
type Decider = fn(&Wait, program: Owner) -> Option<Owner>;

const DECIDERS: [Decider; 6] = [
    recovery::decide,
    window::decide,
    nagle::decide,
    program::decide,
    rate::decide,
    congestion::decide,
];

/// The same where it is not known how far the sender is: only a window that is closed is told.
pub(super) fn decide_afar(wait: &Wait, program: Owner) -> Owner {
    let closed = wait.window == Some(0);
    let window = window::decide(wait, program).filter(|_| closed);
    window.unwrap_or(Owner::Unknown)
}

/// Whose a wait is, of a sender whose program is `program`; none of one so short that it is of what surrounds it.
pub(super) fn decide(wait: &Wait, program: Owner) -> Option<Owner> {
    if wait.together && !wait.clocked {
        return None;
    }
    let owner = DECIDERS.iter().find_map(|decider| decider(wait, program));
    Some(match owner {
        Some(Owner::PathRate) if window::lags(wait) => Owner::ReceiverWindow,
        Some(owner) => owner,
        None if wait.shows_queues && wait.window.is_some() => Owner::Sender,
        None => Owner::Unknown,
    })
}
