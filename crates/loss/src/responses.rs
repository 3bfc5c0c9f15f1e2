//! Rules of HTTP responses in any connection: the responses, what was sent of them, dropped and sent again.
//!
//! A rule is a [`Choice`](choice::Choice) of packets; everything else that its rows and events say is found out here.
//! Subflows of Multipath TCP carry pieces of a connection's stream ([`subflows`]); one of TCP carries all of it.

pub(crate) mod choice;
pub(crate) mod flow;
pub(crate) mod heads;
mod judge;
mod log;
mod losses;
pub(crate) mod open;
pub(crate) mod out;
mod rows;
mod seen;
pub(crate) mod segment;
mod subflows;
pub(crate) mod tracker;
pub(crate) mod waiting;
