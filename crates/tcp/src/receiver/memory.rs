//! What packets cost in buffers: Linux charges a socket for the memory behind them, not for their payload.

use crate::settings::Settings;

/// `struct sk_buff`, rounded up to cache lines of 64 bytes.
pub(crate) const DESCRIPTOR: u32 = 256;
/// `struct skb_shared_info`, which stands behind every buffer.
pub(crate) const SHARED_INFO: u32 = 320;

/// What a buffer of `bytes` costs (`SKB_TRUESIZE`).
pub(crate) const fn truesize(bytes: u32) -> u32 {
    bytes + DESCRIPTOR + SHARED_INFO
}

/// The buffer of a packet that came in.
///
/// It is taken to have come over a veth pair from a sender that computes checksums in software: the sender's charge for
/// the packet comes along with it, but file pages were copied into one new buffer on the way (`skb_checksum_help`,
/// `pskb_expand_head`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// What it costs (`truesize`).
    pub cost: u32,
    /// Bytes of payload that still fit in behind (`skb_tailroom`).
    pub room: u32,
    /// What it is found to cost when looked at again (`skb_condense`).
    pub condensed: u32,
}

impl Buffer {
    /// The buffer of a packet with `len` bytes of payload.
    pub fn of(settings: &Settings, len: u32) -> Self {
        let cost = settings.packet_overhead + len;
        let first = settings.packet_overhead.saturating_sub(truesize(0));
        let filled = settings.header_room + len;
        let capacity = if filled <= first {
            first
        } else {
            // Linearised with 128 bytes to spare, rounded up to what the allocator has: powers of two.
            let size = (first + (filled - first) + 128).next_multiple_of(64) + SHARED_INFO;
            size.next_power_of_two() - SHARED_INFO
        };
        Buffer {
            cost,
            room: capacity.saturating_sub(filled),
            condensed: truesize(capacity),
        }
    }

    /// Takes in `len` bytes if they fit; the packet they came in then costs nothing (`skb_try_coalesce`).
    pub fn take_in(&mut self, len: u32) -> bool {
        let fits = len <= self.room;
        if fits {
            self.room -= len;
        }
        fits
    }
}
