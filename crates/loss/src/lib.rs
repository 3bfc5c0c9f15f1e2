//! Loss rules: which packets of a transfer are dropped.
//!
//! A [`Rule`] sees the packets of a sender in the order they leave, says what happens to each, and tells
//! what it saw as typed [`Event`]s. It does no I/O and reads no clock, so that one object runs behind
//! NFQUEUE, in the simulator and in tests alike.
//!
//! # Two families of rules
//! Both know one path and several; what differs is what a rule knows before the first packet.
//!
//! - `responses` ([`TailRule`](tail::TailRule), [`PatternRule`](pattern::PatternRule)) *finds* what is sent: HTTP responses,
//!   by their heads, in any number of connections. It counts positions in bytes, from what a head says, remembers so much of a
//!   connection and no more, and gives a row for each response.
//! - [`bursts`] ([`BurstRule`](bursts::BurstRule)) is *told* what is sent: the lengths of one connection's bursts, and from
//!   a rehearsal how many packets go on each path. It counts positions in packets, remembers everything, and tells of each
//!   packet.
//!
//! The families stay apart because the same losses mean other things in them. A packet that is not full is a position of its
//! own where packets are counted, and part of one where bytes are: of a head that leaves by itself, `data 2` is another
//! packet. A live connection has no rehearsal, so what a path will carry cannot be told from behind. And only a response
//! has a FIN.
//!
//! What carries the bytes is the same for both (`subflow`): which data a packet has, in what it was first sent, and the how
//! manieth time it goes. So is the language of patterns ([`pattern::Pattern`]).

pub mod bursts;
mod event;
mod intervals;
pub mod pattern;
mod responses;
mod rule;
mod subflow;
pub mod tail;
mod transfer;

pub use event::{
    AckDropped, Carried, Dropped, Event, Retransmitted, Span, Stalled, Started, TransferId,
    Untracked, Why,
};
pub use rule::{Decision, PacketId, Rule, Verdict};
pub use transfer::{Note, Transfer};
