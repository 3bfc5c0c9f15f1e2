//! What names a packet wherever it passes.

use rexmit_wire::Headers;

/// Flags that routers leave alone: those of ECN they may clear (RFC 3168 §6.1).
const FLAGS: u8 = 0x3f;

/// A packet by what of it stays the same on its way, and is in every capture: numbers, flags, window, length.
///
/// Addresses and ports are not part of it, as address translation changes them, nor is a tunnel's outer header, nor are
/// options, which a capture may cut off. Packets of one mark are told apart by their [`Stamps`](rexmit_wire::headers::Timestamps) and
/// IP identifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

impl Mark {
    /// The mark of a packet.
    #[must_use]
    pub fn of(headers: &Headers) -> Self {
        let ack = if headers.flags.ack() {
            headers.ack.get()
        } else {
            0
        };
        let bits = mixed(0, both(headers.seq.get(), ack));
        let look = u32::from(headers.window) << 8 | u32::from(headers.flags.0 & FLAGS);
        Mark(mixed(bits, both(headers.payload_len, look)))
    }

    /// That of a part of the packet that begins at a place: a network card cut it up, or put it together.
    #[must_use]
    pub const fn part(self, place: i64) -> Self {
        Mark(mixed(self.0, place as u64))
    }

    /// Its bits, each as good as any other.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

const fn both(upper: u32, lower: u32) -> u64 {
    (upper as u64) << 32 | lower as u64
}

/// A step of a hash whose every bit depends on every bit of what went in (the finalizer of `SplitMix64`).
const fn mixed(before: u64, word: u64) -> u64 {
    let mut bits = (before ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
