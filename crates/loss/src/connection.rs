//! One connection: its transfers, and what was sent of them, dropped and sent again.
//!
//! Which packets are wanted dropped is said by [`Drops`](crate::Drops), what transfers are by
//! [`Stretches`](crate::Stretches); everything else that rows and events say is found out here. Subflows of Multipath TCP
//! carry pieces of a connection's stream ([`carriers`]); one of TCP carries all of it.
//!
//! `judge` decides what happens to a packet: by the tail (`tail`, by its numbers, or `hold`, until the end shows) or by its
//! place in the pattern (`place`). `losses` notes what was dropped and what was sent again, and `rows` what became of transfers.

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
mod tail;
mod waiting;
