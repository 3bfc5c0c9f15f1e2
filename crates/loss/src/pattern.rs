//! The pattern rule: packets are dropped by their position.
//!
//! See [`Pattern`] for what can be said, and how positions are counted.

mod judge;
mod parse;
mod rule;
mod text;

pub use parse::PatternError;
pub use rule::{PatternRule, Settings};
pub use text::{Pattern, Scope};

use rexmit_wire::TcpPacket;

/// Whether the packet carries nothing but an acknowledgement: what positions behind `ack` count.
pub(crate) fn is_pure_ack(packet: &TcpPacket<'_>) -> bool {
    let flags = packet.flags();
    let more = flags.syn() || flags.fin() || flags.rst() || packet.payload_len() > 0;
    flags.ack() && !more
}
