//! One connection: its transfers, and what was sent of them, dropped and sent again.
//!
//! Which packets are wanted dropped is said by [`Drops`](crate::Drops), what transfers are by
//! [`Stretches`](crate::Stretches); everything else that rows and events say is found out here. Subflows of Multipath TCP
//! carry pieces of a connection's stream ([`carriers`]); one of TCP carries all of it.

pub(crate) mod carriers;
pub(crate) mod flow;
mod heads;
mod hold;
mod judge;
mod log;
mod losses;
mod open;
pub(crate) mod out;
mod place;
mod rows;
mod seen;
pub(crate) mod segment;
mod sequence;
mod waiting;
