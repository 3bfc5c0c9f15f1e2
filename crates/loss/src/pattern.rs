//! What a pattern says: packets by their position.

mod parse;
mod text;

pub use parse::PatternError;
pub(crate) use text::Which;
pub use text::{Pattern, Scope};

use rexmit_wire::TcpPacket;

/// Whether the packet carries nothing but an acknowledgement: what positions behind `ack` count.
pub(crate) fn is_pure_ack(packet: &TcpPacket<'_>) -> bool {
    let flags = packet.flags();
    let more = flags.syn() || flags.fin() || flags.rst() || packet.payload_len() > 0;
    flags.ack() && !more
}
