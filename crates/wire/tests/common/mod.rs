//! Packets built layer by layer.
#![allow(dead_code)] // each test file uses its part

/// Ethernet addresses and a type in front of `next`.
pub fn ethernet(kind: u16, next: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    bytes.extend(kind.to_be_bytes());
    bytes.extend(next);
    bytes
}

/// An IPv4 header from 10.0.0.1 to 10.0.0.2, identification 7, TTL 63, ECT(0), don't fragment.
pub fn v4(protocol: u8, next: &[u8]) -> Vec<u8> {
    let total = u16::try_from(20 + next.len()).unwrap().to_be_bytes();
    let mut bytes = vec![0x45, 2, total[0], total[1], 0, 7, 0x40, 0];
    bytes.extend([63, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(next);
    bytes
}

/// An IPv6 header from fd00::1 to fd00::2, hop limit 62, ECT(1).
pub fn v6(next_header: u8, next: &[u8]) -> Vec<u8> {
    let payload = u16::try_from(next.len()).unwrap().to_be_bytes();
    let mut bytes = vec![0x60, 0x10, 0, 0, payload[0], payload[1], next_header, 62];
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    bytes.extend(next);
    bytes
}

/// A TCP header, ports 80 → 40000, seq 1000, ack 77, window 258; options are padded with 0.
pub fn tcp(flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = options.len().div_ceil(4);
    let mut bytes = vec![0, 80, 156, 64, 0, 0, 3, 232, 0, 0, 0, 77];
    bytes.extend([((5 + words) as u8) << 4, flags, 1, 2, 0, 0, 0, 0]);
    bytes.extend(options);
    bytes.resize(20 + 4 * words, 0);
    bytes.extend(payload);
    bytes
}

/// The timestamps option with values 5 and 6, as nearly all senders lay it out.
pub const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6];

/// A segment of 100 bytes with timestamps.
pub fn segment() -> Vec<u8> {
    tcp(0x18, &TIMESTAMPS, &[b'x'; 100])
}

pub mod files;
