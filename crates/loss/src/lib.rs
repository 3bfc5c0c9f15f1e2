//! The loss rule: which packets of a transfer are dropped.
//!
//! A [`LossRule`] sees the packets of a sender in the order they leave, says what happens to each, and tells
//! what it saw as typed [`Event`]s. It does no I/O and reads no clock, so that one object runs behind
//! NFQUEUE, in the simulator and in tests alike.
//!
//! # Transfers
//! A transfer is a stretch of what a connection sends, of known length, whichever way that is known ([`Stretches`]). A
//! response says it in its head; of what a lab's program writes it is told beforehand, with the packets that were sent of it
//! without loss. Of a connection that nobody but its ends can read it is all up to the FIN, which is where the sender's
//! kernel says that no more was written. What carries the bytes is the same for all: one flow of TCP, or subflows whose
//! mappings say which data a packet has.
//!
//! # What is dropped
//! [`Drops`] is data: the last segments of every transfer, or a [`Pattern`](pattern::Pattern) of positions. A response's
//! positions are pieces of a full segment's length; of stretches that were told, and of whole connections, they are packets,
//! because a rehearsal has counted those.

mod connection;
mod event;
pub mod pattern;
mod rule;
mod settings;
mod subflow;
mod totals;
mod transfer;

pub use event::{
    Bare, BareDropped, Carried, Dropped, Event, Span, Stalled, TransferId, Untracked, Why,
};
pub use rule::{Decision, LossRule, PacketId, Quiet, Verdict};
pub use settings::{Counters, Drops, Mode, Settings, Stretches, Told, Whole};
pub use totals::{Difference, Totals, Unsent};
pub use transfer::{Note, Transfer};
