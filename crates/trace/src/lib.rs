//! Passive analysis: what the senders in a capture did, why, and what it cost.
//!
//! Packets come in as headers with the time at which the monitor saw them. They pass these
//! rooms, one after the other:
//!
//! 1. a table of connections, which keeps an [`Event`](event::Event) a packet for each connection;
//! 2. for each direction that retransmits anything, the *sender view*: its events in the order and at
//!    the times in which the sender saw them ([`SenderEvent`](event::SenderEvent)), and what each packet is (new, sent again, late, doubled);
//! 3. the emulated senders, which say what made each retransmission, and the evidence that says whether it was needed;
//! 4. what other settings would have done, from the same events.
//!
//! Rows ([`rows`]) come out when a connection ends; a [`run`] keeps some until it knows their sender from others. A
//! connection without trouble never gets beyond the first room.

pub mod account;
pub mod analyzer;
mod calibrate;
pub mod columns;
mod connection;
mod contain;
pub mod cost;
pub mod emulate;
pub mod event;
pub mod facts;
pub mod fault;
pub mod fingerprint;
pub mod frames;
pub mod measures;
pub mod multipath;
pub mod necessary;
pub mod parts;
mod pieces;
pub mod points;
pub mod requests;
pub mod rows;
pub mod run;
mod search;
pub mod sender_view;
mod sequence;
pub mod settings;
#[cfg(test)]
mod testing;
pub mod whatif;
mod window;
