//! What the server says as a subflow begins.

use rexmit_wire::mptcp::{self, MptcpOption, Numbers};
use rexmit_wire::TcpPacket;

/// What a SYN-ACK says of its connection.
pub(crate) struct SynAck {
    /// It belongs to a subflow that joins a connection of Multipath TCP that is there.
    pub joins: bool,
    /// The server's data sequence numbers, where it begins one.
    pub numbers: Option<Numbers>,
}

impl SynAck {
    /// What the packet's options say; plain TCP says nothing.
    pub fn of(packet: &TcpPacket<'_>) -> Self {
        let (mut joins, mut numbers) = (false, None);
        for option in mptcp::options(packet) {
            match option {
                MptcpOption::Join(_) => joins = true,
                MptcpOption::Capable(capable) => [numbers, _] = capable.numbers(),
                _ => {}
            }
        }
        SynAck { joins, numbers }
    }
}
