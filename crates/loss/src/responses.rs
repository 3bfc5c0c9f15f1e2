//! What all rules share: connections, the transfers in them, what was sent, dropped and sent again.
//!
//! A rule is a [`Choice`](choice::Choice) of packets; everything else that its rows and events say is found out here.

pub(crate) mod choice;
pub(crate) mod flow;
mod judge;
mod log;
mod losses;
pub(crate) mod open;
pub(crate) mod out;
pub(crate) mod heads;
mod rows;
mod seen;
pub(crate) mod segment;
mod subflows;
pub(crate) mod tracker;
pub(crate) mod waiting;
