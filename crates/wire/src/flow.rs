//! The identity of one direction of a TCP connection.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// One direction of a TCP connection: who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FlowKey {
    /// The sender's address.
    pub src: IpAddr,
    /// The receiver's address.
    pub dst: IpAddr,
    /// The sender's port.
    pub src_port: u16,
    /// The receiver's port.
    pub dst_port: u16,
}

impl FlowKey {
    /// The other direction of the same connection.
    #[must_use]
    pub const fn reversed(self) -> Self {
        FlowKey {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
        }
    }

    /// The sender's address and port, then the receiver's.
    #[must_use]
    pub const fn ends(self) -> [SocketAddr; 2] {
        [
            SocketAddr::new(self.src, self.src_port),
            SocketAddr::new(self.dst, self.dst_port),
        ]
    }
}

impl Hash for FlowKey {
    /// Feeds whole words: byte-wise hashing of addresses would cost more than the rest of a lookup.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                state.write_u64(u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits()));
            }
            (src, dst) => {
                for address in [src, dst] {
                    let bits = match address {
                        IpAddr::V4(v4) => u128::from(v4.to_bits()),
                        IpAddr::V6(v6) => v6.to_bits(),
                    };
                    state.write_u64((bits >> 64) as u64);
                    state.write_u64(bits as u64);
                }
            }
        }
        state.write_u32(u32::from(self.src_port) << 16 | u32::from(self.dst_port));
    }
}

impl fmt::Display for FlowKey {
    /// As in `10.0.0.1:80 > 10.0.0.2:40000`, IPv6 addresses in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [src, dst] = self.ends();
        write!(f, "{src} > {dst}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown_with_ports_and_reversed() {
        let v4 = FlowKey {
            src: "10.0.0.1".parse().unwrap(),
            dst: "10.0.0.2".parse().unwrap(),
            src_port: 80,
            dst_port: 40_000,
        };
        assert_eq!(v4.to_string(), "10.0.0.1:80 > 10.0.0.2:40000");
        assert_eq!(v4.reversed().to_string(), "10.0.0.2:40000 > 10.0.0.1:80");
        let v6 = FlowKey {
            src: "fd00::1".parse().unwrap(),
            dst: "fd00::2".parse().unwrap(),
            ..v4
        };
        assert_eq!(v6.to_string(), "[fd00::1]:80 > [fd00::2]:40000");
    }
}
