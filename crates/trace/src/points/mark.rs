//! What names a packet wherever it passes.

use rexmit_wire::Headers;

/// Flags that routers leave alone: those of ECN they may clear (RFC 3168 §6.1).
const FLAGS: u8 = 0x3f;

/// A packet by what of it stays the same on its way: numbers, flags, window, time stamps, SACK blocks, length.
///
/// Addresses and ports are not part of it, as address translation changes them, nor is a tunnel's outer header. With time
/// stamps hardly any two packets of a connection are equal; without, pure acknowledgements and retransmissions can be.
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
        let mut bits = mixed(0, both(headers.seq.get(), ack));
        let look = u32::from(headers.window) << 8 | u32::from(headers.flags.0 & FLAGS);
        bits = mixed(bits, both(headers.payload_len, look));
        if let Some(stamps) = headers.timestamps {
            bits = mixed(bits, both(stamps.value, stamps.echo));
        }
        for block in headers.sack.blocks() {
            bits = mixed(bits, both(block.start.get(), block.end.get()));
        }
        Mark(bits)
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
