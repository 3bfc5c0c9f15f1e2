//! Segments as the bytes of packets.

use std::net::IpAddr;

use rexmit_tcp::Segment;
use rexmit_wire::FlowKey;

/// What of a packet depends on the operating system.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Time to live.
    pub ttl: u8,
    /// Identification of the IP header.
    pub id: u16,
    /// A SYN's window scale stands before its SACK-permitted and timestamp.
    pub scale_second: bool,
}

/// Appends the headers of `segment` in the flow `key`, in the style of an operating system: IP header, TCP header, and
/// `more` options behind its own, whole words of them. Lengths are those of the whole packet. Checksums are left out.
pub fn headers(out: &mut Vec<u8>, key: &FlowKey, segment: &Segment, style: &Style, more: &[u8]) {
    let header_bytes = segment.header_len() + more.len() as u32;
    let tcp_bytes = header_bytes + segment.len;
    // ECT(0) or CE (RFC 3168 §5).
    let ecn = match (segment.ce, segment.ect) {
        (true, _) => 3,
        (false, ect) => u8::from(ect) << 1,
    };
    match (key.src, key.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            // Lengths of 64 KiB and more do not fit, and no MTU allows them.
            let total = (20 + tcp_bytes) as u16;
            let [length_high, length_low] = total.to_be_bytes();
            let [id_high, id_low] = style.id.to_be_bytes();
            out.extend([0x45, ecn, length_high, length_low, id_high, id_low]);
            // DF (RFC 1191), protocol TCP.
            out.extend([0x40, 0, style.ttl, 6, 0, 0]);
            out.extend(src.octets());
            out.extend(dst.octets());
        }
        (src, dst) => {
            let octets = |address| match address {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
                IpAddr::V6(v6) => v6.octets(),
            };
            let [length_high, length_low] = (tcp_bytes as u16).to_be_bytes();
            out.extend([0x60, ecn << 4, 0, 0, length_high, length_low, 6, style.ttl]);
            out.extend(octets(src));
            out.extend(octets(dst));
        }
    }
    tcp_header(out, key, segment, style, header_bytes);
    out.extend_from_slice(more);
}

fn tcp_header(
    out: &mut Vec<u8>,
    key: &FlowKey,
    segment: &Segment,
    style: &Style,
    header_bytes: u32,
) {
    out.extend(key.src_port.to_be_bytes());
    out.extend(key.dst_port.to_be_bytes());
    out.extend(segment.seq.get().to_be_bytes());
    out.extend(segment.ack.get().to_be_bytes());
    out.extend([(header_bytes as u8 / 4) << 4, segment.flags.0]);
    out.extend(segment.window.to_be_bytes());
    // Checksum, urgent pointer.
    out.extend([0; 4]);
    options(out, segment, style);
}

const NOP: u8 = 1;

/// In the order of `tcp_options_write`, or with the window scale in the second place.
fn options(out: &mut Vec<u8>, segment: &Segment, style: &Style) {
    if let Some(mss) = segment.mss {
        let [high, low] = mss.to_be_bytes();
        out.extend([2, 4, high, low]);
    }
    if style.scale_second {
        window_scale(out, segment);
    }
    if let Some(timestamps) = segment.timestamps {
        if segment.sack_permitted {
            out.extend([4, 2, 8, 10]);
        } else {
            out.extend([NOP, NOP, 8, 10]);
        }
        out.extend(timestamps.value.to_be_bytes());
        out.extend(timestamps.echo.to_be_bytes());
    } else if segment.sack_permitted {
        out.extend([NOP, NOP, 4, 2]);
    }
    if !style.scale_second {
        window_scale(out, segment);
    }
    let blocks = segment.sack.as_slice();
    if !blocks.is_empty() {
        out.extend([NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            out.extend(block.start.get().to_be_bytes());
            out.extend(block.end.get().to_be_bytes());
        }
    }
}

fn window_scale(out: &mut Vec<u8>, segment: &Segment) {
    if let Some(shift) = segment.window_scale {
        out.extend([NOP, 3, 3, shift]);
    }
}

/// Fills in the checksums of a whole packet that starts at its IP header (RFC 1071).
pub fn fill_in_checksums(packet: &mut [u8]) {
    fill_in_checksums_of(packet, packet.len());
}

/// As [`fill_in_checksums`], for headers whose packet is `total` bytes long with nothing but zeros behind them.
pub fn fill_in_checksums_of(packet: &mut [u8], total: usize) {
    let is_v4 = packet.first().is_some_and(|first| first >> 4 == 4);
    let (header, addresses) = if is_v4 { (20, 12..20) } else { (40, 8..40) };
    if packet.len() < header + 20 {
        return;
    }
    if is_v4 {
        fill_in_ip_checksum(&mut packet[..header]);
    }
    let tcp_bytes = (total - header) as u64;
    // The pseudo header (RFC 9293 §3.1).
    let pseudo = sum(&packet[addresses]) + 6 + tcp_bytes;
    let checksum = fold(pseudo + sum(&packet[header..]));
    packet[header + 16..header + 18].copy_from_slice(&checksum.to_be_bytes());
}

/// Fills in the checksum of an IPv4 header without options.
pub fn fill_in_ip_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let checksum = internet_checksum(&[header]);
    header[10..12].copy_from_slice(&checksum);
}

/// The Internet's checksum over parts, of even lengths but for the last (RFC 1071).
pub fn internet_checksum(parts: &[&[u8]]) -> [u8; 2] {
    fold(parts.iter().map(|part| sum(part)).sum()).to_be_bytes()
}

fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(2);
    words
        .map(|w| u64::from(w[0]) << 8 | u64::from(w.get(1).copied().unwrap_or(0)))
        .sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::{SackList, Timestamps};
    use rexmit_wire::options::TcpOption;
    use rexmit_wire::{Flags, SeqNum, SeqRange, TcpPacket};

    use super::*;

    const LINUX: Style = Style {
        ttl: 64,
        id: 0,
        scale_second: false,
    };

    fn keys() -> [FlowKey; 2] {
        let key = |src: &str, dst: &str| FlowKey {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            src_port: 80,
            dst_port: 40_000,
        };
        [key("10.0.0.1", "10.0.0.2"), key("fd00::1", "fd00::2")]
    }

    fn segments() -> [Segment; 3] {
        let base = Segment {
            seq: SeqNum::new(0xffff_fff0),
            ack: SeqNum::new(7),
            flags: Flags(0x10),
            window: 501,
            ..Segment::default()
        };
        let mut sack = SackList::default();
        sack.push(SeqRange::new(SeqNum::new(100), 10));
        sack.push(SeqRange::new(SeqNum::new(200), 20));
        let timestamps = Some(Timestamps { value: 5, echo: 6 });
        [
            Segment {
                flags: Flags(0x12),
                mss: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
                timestamps,
                ..base
            },
            Segment {
                sack,
                timestamps,
                ..base
            },
            Segment { len: 1448, ..base },
        ]
    }

    #[test]
    fn reads_back_as_it_was() {
        for key in keys() {
            for segment in segments() {
                let mut bytes = Vec::new();
                headers(&mut bytes, &key, &segment, &LINUX, &[]);
                let got = TcpPacket::parse(&bytes).unwrap();
                assert_eq!(got.flow(), key);
                assert_eq!((got.seq(), got.ack()), (segment.seq, segment.ack));
                assert_eq!((got.flags(), got.window()), (segment.flags, 501));
                assert_eq!(got.payload_len(), segment.len);
                let mut options = 0;
                for option in got.options() {
                    options += 1;
                    match option {
                        TcpOption::MaxSegmentSize(mss) => assert_eq!(Some(mss), segment.mss),
                        TcpOption::WindowScale(shift) => {
                            assert_eq!(Some(shift), segment.window_scale);
                        }
                        TcpOption::SackPermitted => assert!(segment.sack_permitted),
                        TcpOption::Sack(blocks) => {
                            assert!(blocks.iter().eq(segment.sack.as_slice().iter().copied()));
                        }
                        TcpOption::Timestamps { value, echo } => {
                            assert_eq!(Some(Timestamps { value, echo }), segment.timestamps);
                        }
                        TcpOption::Other { .. } => panic!("{option:?}"),
                    }
                }
                let expected =
                    [4, 2, 0][usize::from(segment.mss.is_none()) + usize::from(segment.len > 0)];
                assert_eq!(options, expected);
            }
        }
    }

    #[test]
    fn checksums_add_up() {
        for key in keys() {
            let segment = Segment {
                len: 3,
                ..segments()[1]
            };
            let mut bytes = Vec::new();
            headers(&mut bytes, &key, &segment, &LINUX, &[]);
            bytes.extend(b"abc");
            fill_in_checksums(&mut bytes);
            let header = if key.src.is_ipv4() { 20 } else { 40 };
            if header == 20 {
                assert_eq!(fold(sum(&bytes[..20])), 0);
            }
            let addresses = if header == 20 { 12..20 } else { 8..40 };
            let tcp = (bytes.len() - header) as u64;
            assert_eq!(
                fold(sum(&bytes[addresses]) + 6 + tcp + sum(&bytes[header..])),
                0
            );
        }
    }
}
