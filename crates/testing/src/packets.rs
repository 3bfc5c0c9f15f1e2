//! Headers of packets.

use rexmit_wire::headers::{Notes, Record, Sack};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

/// From one host to another.
#[must_use]
pub fn flow(src_port: u16) -> FlowKey {
    FlowKey {
        src: [10, 0, 0, 1].into(),
        dst: [10, 0, 0, 2].into(),
        src_port,
        dst_port: 80,
    }
}

/// A packet that bears an acknowledgement and nothing else.
#[must_use]
pub fn bare(flow: FlowKey) -> Headers {
    Headers {
        flow,
        seq: SeqNum::new(0),
        ack: SeqNum::new(0),
        payload_len: 0,
        window: 0,
        flags: Flags::ACK,
        ttl: 64,
        ip_id: None,
        dont_fragment: true,
        ecn: 0,
        record: Record::None,
        notes: Notes::default(),
        timestamps: None,
        sack: Sack::default(),
        syn: None,
    }
}
