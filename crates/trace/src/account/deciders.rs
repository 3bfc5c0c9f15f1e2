//! Why a sender waited before it sent more: a decider a cause, asked in this order.

mod congestion;
mod nagle;
mod program;
mod rate;
mod recovery;
mod window;

use super::flow::Wait;
use super::owner::Owner;
use crate::event::Direction;

/// Whose a wait is, if it is for this cause.
type Decider = fn(&Wait, Direction) -> Option<Owner>;

const DECIDERS: [Decider; 6] = [
    recovery::decide,
    window::decide,
    nagle::decide,
    program::decide,
    rate::decide,
    congestion::decide,
];

/// Whose a wait of the sender in direction `of` is; none of one so short that it is of what surrounds it.
pub(super) fn decide(wait: &Wait, of: Direction) -> Option<Owner> {
    if wait.together && !wait.clocked {
        return None;
    }
    let found = DECIDERS.iter().find_map(|decider| decider(wait, of));
    Some(
        found.unwrap_or(if wait.shows_queues && wait.window.is_some() {
            Owner::Sender
        } else {
            Owner::Unknown
        }),
    )
}
