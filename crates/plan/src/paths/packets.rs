//! The packet log of a connection over paths.

use serde::ser::SerializeTuple;
use serde::{Serialize, Serializer};

use crate::packets::LoggedPacket;

/// A packet as its host's TCP sent it, before any loss. Written as the array of a [`LoggedPacket`], with
/// `path, data_seq, data_ack` at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPacket {
    /// The packet within its subflow.
    pub packet: LoggedPacket,
    /// The path, from 1.
    pub path: u32,
    /// Of the stream, its first byte of data; 1 is the first byte that its sender sent. `None` without data, and where
    /// no mapping says.
    pub data_seq: Option<u64>,
    /// Of the other side's stream, the byte that its data acknowledgement awaits. `None` without one.
    pub data_ack: Option<u64>,
}

impl Serialize for PathPacket {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(LoggedPacket::ELEMENTS + 3)?;
        self.packet.elements(&mut tuple)?;
        tuple.serialize_element(&self.path)?;
        tuple.serialize_element(&self.data_seq)?;
        tuple.serialize_element(&self.data_ack)?;
        tuple.end()
    }
}

/// `packets`: the log of one connection, in the order of time.
#[derive(Debug, Serialize)]
pub struct PathPackets<'a> {
    /// The cell's number.
    pub cell: u64,
    /// The connection's number in the cell.
    pub repetition: u32,
    /// The packets.
    pub packets: &'a [PathPacket],
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::Mechanism;

    use super::*;
    use crate::Direction;

    #[test]
    fn a_packet_is_the_array_of_one_path_with_three_more() {
        let packet = LoggedPacket {
            at_ns: 5,
            direction: Direction::Data,
            seq: 1,
            len: 1400,
            flags: 0x10,
            ack: 1,
            window: 501,
            dropped: true,
            mechanism: Some(Mechanism::MptcpReinject),
            sack: Vec::new(),
        };
        let packet = PathPacket {
            packet,
            path: 2,
            data_seq: Some(2801),
            data_ack: None,
        };
        let text = serde_json::to_string(&packet).unwrap();
        let want = "[5,0,1,1400,16,1,501,1,\"mptcp-reinject\",[],2,2801,null]";
        assert_eq!(text, want);
    }
}
