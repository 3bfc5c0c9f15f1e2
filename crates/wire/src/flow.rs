//! The identity of one direction of a TCP connection.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

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
        if let (IpAddr::V4(src), IpAddr::V4(dst)) = (self.src, self.dst) {
            let mut text = Text {
                bytes: [0; LONGEST],
                len: 0,
            };
            text.end(src, self.src_port);
            text.add(b" > ");
            text.end(dst, self.dst_port);
            return f.write_str(text.as_str());
        }
        let [src, dst] = self.ends();
        write!(f, "{src} > {dst}")
    }
}

/// Bytes of `255.255.255.255:65535 > 255.255.255.255:65535`.
const LONGEST: usize = 2 * 21 + 3;

/// Two ends with IPv4 addresses as text: tables have a million of them, and a formatter's call for each number takes six times
/// as long.
struct Text {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Text {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn end(&mut self, address: Ipv4Addr, port: u16) {
        for (byte, next) in address.octets().into_iter().zip([b'.', b'.', b'.', b':']) {
            self.number(byte.into());
            self.add(&[next]);
        }
        self.number(port);
    }

    fn number(&mut self, number: u16) {
        let digits = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        let mut rest = number;
        for digit in self.bytes[self.len..self.len + digits].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.len += digits;
    }

    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
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
        let widest = FlowKey {
            src: "255.255.255.255".parse().unwrap(),
            dst: "0.9.10.99".parse().unwrap(),
            src_port: 65_535,
            dst_port: 0,
        };
        assert_eq!(widest.to_string(), "255.255.255.255:65535 > 0.9.10.99:0");
        let v6 = FlowKey {
            src: "fd00::1".parse().unwrap(),
            dst: "fd00::2".parse().unwrap(),
            ..v4
        };
        assert_eq!(v6.to_string(), "[fd00::1]:80 > [fd00::2]:40000");
    }
}
