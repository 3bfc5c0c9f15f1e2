//! What a packet carries of its connection's stream, and how it is sent.

use std::collections::BTreeMap;

use rexmit_wire::{SeqNum, TcpPacket};

/// What a packet carries of the connection's stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'a> {
    /// Of the first byte.
    pub seq: SeqNum,
    /// What was captured of the payload.
    pub payload: &'a [u8],
    /// Bytes of payload.
    pub len: u32,
    /// The stream ends behind them.
    pub fin: bool,
    /// How it is sent, where the pattern minds paths.
    pub carrier: Option<Carrier>,
}

impl<'a> Segment<'a> {
    /// Of a packet of plain TCP.
    pub fn of(packet: &TcpPacket<'a>) -> Self {
        Segment {
            seq: packet.seq() + u32::from(packet.flags().syn()),
            payload: packet.payload(),
            len: packet.payload_len(),
            fin: packet.flags().fin(),
            carrier: None,
        }
    }
}

/// How a packet is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carrier {
    /// The path, from 1.
    pub path: u32,
    /// Of what its subflow sent before: where the packet stands in which its first byte went first, and the how manieth
    /// time it goes now.
    pub before: Option<(Option<Place>, u32)>,
}

/// Where a packet of new data stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The response that it is of, from 1.
    pub response: u32,
    /// Its number among the packets of that response on its path, from 1.
    pub number: u64,
}

/// How many acknowledgements the client has sent since its last request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientAcks {
    /// The request's number, from 1.
    pub request: u32,
    /// On every path.
    pub all: u64,
    /// By path.
    pub on_paths: BTreeMap<u32, u64>,
}
