//! What a packet carries of its connection's stream, and how it is sent.

use rexmit_wire::{FlowKey, SeqNum, TcpPacket};

use super::place::Place;
use crate::Span;

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
    /// The subflow, from server to client.
    pub flow: FlowKey,
    /// The path, from 1.
    pub path: u32,
    /// Where it stands in its subflow.
    pub span: Span,
    /// Whether it carries the highest number of its subflow.
    pub highest: bool,
    /// Of what its subflow sent before: where the packet stands in which its first byte went first, and the how manieth
    /// time it goes now.
    pub before: Option<(Option<Place>, u32)>,
}
