//! What is kept of a SYN or SYN-ACK.

use rexmit_time::Time;
use rexmit_wire::headers::{Notes, Sack, SynOptions, Timestamps};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

/// A SYN or SYN-ACK, less what the connection knows anyway.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syn {
    /// When it came by.
    pub at: Time,
    /// Its sequence number.
    pub isn: SeqNum,
    /// Its options.
    pub options: SynOptions,
    ack: SeqNum,
    payload_len: u32,
    timestamps: Option<Timestamps>,
    ip_id: Option<u16>,
    window: u16,
    flags: Flags,
    ttl: u8,
    ecn: u8,
    dont_fragment: bool,
    notes: Notes,
}

impl Syn {
    /// What is kept of a packet with SYN.
    pub fn of(at: Time, headers: &Headers) -> Option<Self> {
        Some(Syn {
            at,
            isn: headers.seq,
            options: headers.syn?,
            ack: headers.ack,
            payload_len: headers.payload_len,
            timestamps: headers.timestamps,
            ip_id: headers.ip_id,
            window: headers.window,
            flags: headers.flags,
            ttl: headers.ttl,
            ecn: headers.ecn,
            dont_fragment: headers.dont_fragment,
            notes: headers.notes,
        })
    }

    /// The packet's headers again.
    pub fn headers(&self, flow: FlowKey) -> Headers {
        Headers {
            flow,
            seq: self.isn,
            ack: self.ack,
            payload_len: self.payload_len,
            window: self.window,
            flags: self.flags,
            ttl: self.ttl,
            ip_id: self.ip_id,
            dont_fragment: self.dont_fragment,
            ecn: self.ecn,
            notes: self.notes,
            timestamps: self.timestamps,
            sack: Sack::default(),
            syn: Some(self.options),
        }
    }
}
