//! A TCP segment as a value: what a machine takes in and gives out. Its payload is a length; whoever owns the stream
//! knows the bytes.

use rexmit_wire::{Flags, SeqNum, SeqRange};

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The peer's clock as last seen.
    pub echo: u32,
}

/// Up to four SACK blocks in the order of the option, the first of them perhaps a D-SACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackList {
    blocks: [SeqRange; 4],
    len: u8,
}

impl SackList {
    /// Adds a block; a fifth is left out.
    pub fn push(&mut self, block: SeqRange) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = block;
            self.len += 1;
        }
    }

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[SeqRange] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of the SYN.
    pub seq: SeqNum,
    /// Acknowledgement number; holds when [`Flags::ACK`] is set.
    pub ack: SeqNum,
    /// Flags.
    pub flags: Flags,
    /// The window field as on the wire, not scaled.
    pub window: u16,
    /// Payload bytes.
    pub len: u32,
    /// Maximum segment size option.
    pub mss: Option<u16>,
    /// Window scale option.
    pub window_scale: Option<u8>,
    /// SACK-permitted option.
    pub sack_permitted: bool,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK option.
    pub sack: SackList,
    /// Its IP header says that its ends take marks (ECT(0), RFC 3168 §5).
    pub ect: bool,
    /// A link marked it: its queue was long (CE).
    pub ce: bool,
    /// Pieces of pages that the data lie in (`nr_frags`): not on the wire, but a packet brings its memory along where both
    /// hosts are on one machine, as in the lab. None of a file's, which were copied into one buffer (`skb_checksum_help`).
    pub pages: u32,
    /// What the buffer costs that payload lies in and that comes along, too, and how much of the payload does; none where
    /// the memory is as [`Settings::packet_overhead`](crate::settings::Settings::packet_overhead) says.
    pub buffer: Option<(u32, u32)>,
}

impl Segment {
    /// Sequence numbers that the segment takes: payload, SYN and FIN.
    #[must_use]
    pub fn space(&self) -> u32 {
        self.len + u32::from(self.flags.syn()) + u32::from(self.flags.fin())
    }

    /// The sequence number after the segment.
    #[must_use]
    pub fn end(&self) -> SeqNum {
        self.seq + self.space()
    }

    /// It takes numbers, and its payload ends after `next`.
    #[must_use]
    pub fn has_data_after(&self, next: SeqNum) -> bool {
        self.space() > 0 && (self.seq + self.len).is_after(next)
    }

    /// Bytes of the TCP header with its options, as Linux lays them out (`tcp_established_options`,
    /// `tcp_syn_options`): timestamps aligned to 12 bytes, SACK blocks behind two bytes of padding.
    #[must_use]
    pub fn header_len(&self) -> u32 {
        let mut options = 0;
        if self.mss.is_some() {
            options += 4;
        }
        if self.timestamps.is_some() {
            options += 12;
        } else if self.sack_permitted {
            options += 4;
        }
        if self.window_scale.is_some() {
            options += 4;
        }
        if !self.sack.is_empty() {
            options += 4 + 8 * self.sack.as_slice().len() as u32;
        }
        20 + options
    }
}
