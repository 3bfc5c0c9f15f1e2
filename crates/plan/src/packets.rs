//! The packet log of a transfer.

use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::options::TcpOption;
use rexmit_wire::{SeqNum, TcpPacket};
use serde::ser::SerializeTuple;
use serde::{Serialize, Serializer};

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The server, to the client.
    Data = 0,
    /// The client, to the server.
    Ack = 1,
}

/// A packet as its host's TCP sent it, before any loss. Written as the array
/// `[at_ns, direction, seq, len, flags, ack, window, dropped, mechanism, [[start, end], …]]`, with
/// `path, data_seq, data_ack` at its end where the rule minds paths.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedPacket {
    /// Nanoseconds after the time at which the transfer was to start.
    pub at_ns: i64,
    /// Who sent it.
    pub direction: Direction,
    /// Sequence number less the sender's initial one: 0 is the SYN, 1 the first byte of data.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// The flags' bits, FIN lowest.
    pub flags: u8,
    /// Acknowledgement number less the receiver's initial sequence number.
    pub ack: u32,
    /// The window field, not scaled.
    pub window: u16,
    /// The loss rule dropped it.
    pub dropped: bool,
    /// What made the sender send it again, for a retransmission.
    pub mechanism: Option<Mechanism>,
    /// SACK blocks, less the receiver's initial sequence number.
    pub sack: Vec<(u32, u32)>,
    /// Where it goes and what it carries of all data, where the rule minds paths.
    pub carries: Option<Carries>,
}

/// What a packet carries of a connection's data, on which path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// The path, from 1.
    pub path: u32,
    /// Of the stream, its first byte of data; 1 is the first byte that its sender sent. `None` without data, and where
    /// no mapping says.
    pub data_seq: Option<u64>,
    /// Of the other side's stream, the byte that its data acknowledgement awaits. `None` without one.
    pub data_ack: Option<u64>,
}

impl LoggedPacket {
    /// What is to be said of `packet`, sent at `at`; `isn` and `peer_isn` are the initial sequence numbers of its
    /// sender and of its receiver, `start` the time at which the transfer was to start.
    #[must_use]
    pub fn new(
        packet: &TcpPacket<'_>,
        direction: Direction,
        at: Time,
        start: Time,
        (isn, peer_isn): (SeqNum, SeqNum),
    ) -> Self {
        let relative = |seq: SeqNum, origin: SeqNum| seq.get().wrapping_sub(origin.get());
        let has_ack = packet.flags().ack();
        let sack = packet.options().find_map(|option| match option {
            TcpOption::Sack(blocks) => Some(
                blocks
                    .iter()
                    .map(|b| (relative(b.start, peer_isn), relative(b.end, peer_isn)))
                    .collect(),
            ),
            _ => None,
        });
        Self {
            at_ns: at.since(start).as_nanos(),
            direction,
            seq: relative(packet.seq(), isn),
            len: packet.payload_len(),
            flags: packet.flags().0,
            ack: if has_ack {
                relative(packet.ack(), peer_isn)
            } else {
                0
            },
            window: packet.window(),
            dropped: false,
            mechanism: None,
            sack: sack.unwrap_or_default(),
            carries: None,
        }
    }
}

impl Serialize for LoggedPacket {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let elements = if self.carries.is_some() { 13 } else { 10 };
        let mut tuple = serializer.serialize_tuple(elements)?;
        tuple.serialize_element(&self.at_ns)?;
        tuple.serialize_element(&(self.direction as u8))?;
        tuple.serialize_element(&self.seq)?;
        tuple.serialize_element(&self.len)?;
        tuple.serialize_element(&self.flags)?;
        tuple.serialize_element(&self.ack)?;
        tuple.serialize_element(&self.window)?;
        tuple.serialize_element(&u8::from(self.dropped))?;
        tuple.serialize_element(&self.mechanism)?;
        tuple.serialize_element(&self.sack)?;
        if let Some(carries) = &self.carries {
            tuple.serialize_element(&carries.path)?;
            tuple.serialize_element(&carries.data_seq)?;
            tuple.serialize_element(&carries.data_ack)?;
        }
        tuple.end()
    }
}

/// `packets`: the log of one transfer, in the order of time.
#[derive(Debug, Serialize)]
pub struct Packets<'a> {
    /// The cell's number.
    pub cell: u64,
    /// The transfer's number in the cell.
    pub repetition: u32,
    /// The packets.
    pub packets: &'a [LoggedPacket],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_an_array() {
        let packet = LoggedPacket {
            at_ns: -5,
            direction: Direction::Ack,
            seq: 107,
            len: 0,
            flags: 0x10,
            ack: 1449,
            window: 501,
            dropped: false,
            mechanism: Some(Mechanism::Tlp),
            sack: vec![(2897, 4345)],
            carries: None,
        };
        let text = serde_json::to_string(&packet).unwrap();
        assert_eq!(text, "[-5,1,107,0,16,1449,501,0,\"tlp\",[[2897,4345]]]");
        let carries = Some(Carries {
            path: 2,
            data_seq: Some(2801),
            data_ack: None,
        });
        let text = serde_json::to_string(&LoggedPacket { carries, ..packet }).unwrap();
        let want = "[-5,1,107,0,16,1449,501,0,\"tlp\",[[2897,4345]],2,2801,null]";
        assert_eq!(text, want);
    }
}
