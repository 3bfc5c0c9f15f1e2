//! The headers that a line tells, as bytes.

use core::net::IpAddr;

use super::flows::Numbers;
use super::line::{Opt, Protocol, Segment};
use crate::ip::protocol;
use crate::FlowKey;

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
/// Bytes of options at most.
const MOST_OPTIONS: usize = 40;

/// A frame and its length on the wire, of a packet of which nothing is known but what it is.
pub(super) fn other(of: Protocol) -> (Vec<u8>, u32) {
    const ARP: u16 = 0x0806;
    /// For experiments (RFC 3692).
    const EXPERIMENT: u8 = 253;
    let mut frame = vec![0; ETHERNET];
    let number = match of {
        Protocol::Arp => {
            frame[12..].copy_from_slice(&ARP.to_be_bytes());
            None
        }
        Protocol::Icmp => Some(protocol::ICMP),
        Protocol::Udp => Some(protocol::UDP),
        Protocol::Unknown => Some(EXPERIMENT),
    };
    if let Some(number) = number {
        frame[12..].copy_from_slice(&IPV4.to_be_bytes());
        frame.extend([0x45, 0, 0, 20, 0, 0, 0, 0, 0, number, 0, 0]);
        frame.extend([0; 8]);
    }
    let on_wire = frame.len() as u32;
    (frame, on_wire)
}

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// The frame of a segment without its payload, and its length on the wire with it.
pub(super) fn segment(key: FlowKey, segment: &Segment, numbers: &Numbers) -> (Vec<u8>, u32) {
    let options = options(&numbers.options);
    let tcp = 20 + options.len();
    let carried = tcp as u32 + segment.payload_len;
    let mut frame = vec![0; ETHERNET];
    let ip = segment.ip;
    match (key.src, key.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            frame[12..].copy_from_slice(&IPV4.to_be_bytes());
            frame.extend([0x45, ip.ecn]);
            // 0 says that the length on the wire counts: what network cards merge may be longer than the field.
            frame.extend(u16::try_from(20 + carried).unwrap_or(0).to_be_bytes());
            frame.extend(ip.id.to_be_bytes());
            frame.extend([
                u8::from(ip.dont_fragment) << 6,
                0,
                ip.ttl,
                protocol::TCP,
                0,
                0,
            ]);
            frame.extend(src.octets());
            frame.extend(dst.octets());
        }
        (src, dst) => {
            let octets = |address| match address {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            };
            frame[12..].copy_from_slice(&IPV6.to_be_bytes());
            frame.extend([0x60, ip.ecn << 4, 0, 0]);
            frame.extend(u16::try_from(carried).unwrap_or(0).to_be_bytes());
            frame.extend([protocol::TCP, ip.ttl]);
            frame.extend(octets(src));
            frame.extend(octets(dst));
        }
    }
    let on_wire = frame.len() as u32 + carried;
    frame.extend(key.src_port.to_be_bytes());
    frame.extend(key.dst_port.to_be_bytes());
    frame.extend(numbers.seq.to_be_bytes());
    frame.extend(numbers.ack.to_be_bytes());
    frame.extend([(tcp as u8 / 4) << 4, segment.flags.0]);
    frame.extend(numbers.window.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(segment.urgent.to_be_bytes());
    frame.extend(options);
    (frame, on_wire)
}

/// The options as they lie in a header, padded to words; those that do not fit are left out.
fn options(list: &[Opt]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut list = list.iter().peekable();
    while let Some(&option) = list.next() {
        let before = bytes.len();
        match option {
            Opt::End => bytes.push(0),
            Opt::Nop => bytes.push(1),
            Opt::Mss(mss) => {
                bytes.extend([2, 4]);
                bytes.extend(mss.to_be_bytes());
            }
            Opt::Scale(shift) => bytes.extend([3, 3, shift]),
            Opt::SackPermitted => bytes.extend([4, 2]),
            Opt::Stamps(value, echo) => {
                bytes.extend([8, 10]);
                bytes.extend(value.to_be_bytes());
                bytes.extend(echo.to_be_bytes());
            }
            Opt::Block(start, end) => {
                let mut blocks = vec![(start, end)];
                while let Some(&&Opt::Block(start, end)) = list.peek() {
                    blocks.push((start, end));
                    list.next();
                }
                blocks.truncate(4);
                bytes.extend([5, 2 + 8 * blocks.len() as u8]);
                for (start, end) in blocks {
                    bytes.extend(start.to_be_bytes());
                    bytes.extend(end.to_be_bytes());
                }
            }
        }
        if bytes.len() > MOST_OPTIONS {
            bytes.truncate(before);
            break;
        }
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
