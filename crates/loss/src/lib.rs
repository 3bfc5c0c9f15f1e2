//! Loss rules: which packets of a transfer are dropped.
//!
//! A [`Rule`] sees the packets of a sender in the order they leave, says what happens to each, and tells
//! what it saw as typed [`Event`]s. It does no I/O and reads no clock, so that one object runs behind
//! NFQUEUE, in the simulator and in tests alike.

mod event;
mod intervals;
pub mod bursts;
pub mod pattern;
mod rule;
pub mod tail;
mod responses;
mod transfer;

pub use event::{
    AckDropped, Carried, Dropped, Event, Retransmitted, Span, Stalled, Started, TransferId,
    Untracked, Why,
};
pub use rule::{Decision, PacketId, Rule, Verdict};
pub use transfer::{Note, Transfer};
