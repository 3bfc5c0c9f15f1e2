//! The identity of a connection.

use core::hash::{Hash, Hasher};
use core::net::IpAddr;

use rexmit_wire::{FlowKey, Headers};

/// A connection by either of its directions: both are equal, and have one hash.
#[derive(Clone, Copy, Debug)]
pub struct Pair(pub FlowKey);

impl Pair {
    /// The connection whose first packet is `headers`, client to server.
    pub(crate) fn begun_by(headers: &Headers) -> Self {
        let flow = headers.flow;
        let from_client = if headers.flags.syn() {
            !headers.flags.ack()
        } else {
            // A server's port is the lower one, mostly (RFC 6335 §6).
            flow.src_port >= flow.dst_port
        };
        Pair(if from_client { flow } else { flow.reversed() })
    }
}

impl PartialEq for Pair {
    #[inline]
    fn eq(&self, other: &Pair) -> bool {
        self.0 == other.0 || self.0 == other.0.reversed()
    }
}

impl Eq for Pair {}

impl Hash for Pair {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let FlowKey {
            src,
            dst,
            src_port,
            dst_port,
        } = self.0;
        if let (IpAddr::V4(src), IpAddr::V4(dst)) = (src, dst) {
            let src = u64::from(src.to_bits()) << 16 | u64::from(src_port);
            let dst = u64::from(dst.to_bits()) << 16 | u64::from(dst_port);
            state.write_u64(src.min(dst));
            state.write_u64(src.max(dst));
        } else {
            let reversed = self.0.reversed();
            let lower = if (src, src_port) <= (dst, dst_port) {
                self.0
            } else {
                reversed
            };
            lower.hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::table::Hashed;

    use super::*;

    #[test]
    fn both_directions_are_one_connection() {
        for (src, dst) in [
            ("10.0.0.2", "10.0.0.1"),
            ("10.0.0.1", "10.0.0.1"),
            ("fd00::2", "fd00::1"),
            ("fd00::2", "10.0.0.1"),
        ] {
            let there = FlowKey {
                src: src.parse().unwrap(),
                dst: dst.parse().unwrap(),
                src_port: 40_000,
                dst_port: 80,
            };
            let other = FlowKey {
                src_port: 40_001,
                ..there
            };
            let (there, back, other) = (Pair(there), Pair(there.reversed()), Pair(other));
            assert_eq!(there, back);
            assert_eq!(Hashed::of(&there), Hashed::of(&back));
            assert_ne!(there, other);
            assert_ne!(Hashed::of(&there), Hashed::of(&other));
        }
    }
}
