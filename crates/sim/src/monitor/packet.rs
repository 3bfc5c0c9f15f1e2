//! A packet of a capture, and what its headers say.

use std::net::Ipv4Addr;

use rexmit_time::{Duration, Stream, Time};
use rexmit_wire::LinkType;

use crate::bytes::fill_in_ip_checksum;

const TCP: u8 = 6;
const IPV4: usize = 20;

/// A captured packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// What its time stamp says.
    pub time: Time,
    /// The bytes captured.
    pub bytes: Vec<u8>,
    /// Bytes on the wire.
    pub original: u32,
    /// The rows of the truth's table of retransmissions that tell of it.
    pub rows: Vec<u32>,
    /// It belongs to no connection of the part.
    pub is_cross: bool,
}

impl CapturedPacket {
    /// A packet that no row tells of.
    #[must_use]
    pub fn new(time: Time, bytes: Vec<u8>, original: u32) -> Self {
        CapturedPacket {
            time,
            bytes,
            original,
            rows: Vec::new(),
            is_cross: false,
        }
    }

    /// Sets the identification of the IPv4 header at `ip`.
    pub(super) fn set_id(&mut self, ip: usize, id: u16) {
        self.bytes[ip + 4..ip + 6].copy_from_slice(&id.to_be_bytes());
        fill_in_ip_checksum(&mut self.bytes[ip..ip + IPV4]);
    }

    /// Sets the time to live of the IPv4 header at `ip`.
    pub(super) fn set_ttl(&mut self, ip: usize, ttl: u8) {
        self.bytes[ip + 8] = ttl;
        fill_in_ip_checksum(&mut self.bytes[ip..ip + IPV4]);
    }

    /// Adds `more` bytes of payload to the packet whose IPv4 header is at `ip`, without capturing them.
    pub(super) fn lengthen(&mut self, ip: usize, more: u32) {
        let total = u16::from_be_bytes([self.bytes[ip + 2], self.bytes[ip + 3]]);
        let total = total.saturating_add(more as u16);
        self.bytes[ip + 2..ip + 4].copy_from_slice(&total.to_be_bytes());
        fill_in_ip_checksum(&mut self.bytes[ip..ip + IPV4]);
        self.original += more;
    }
}

/// Where the IP header of packets of this link begins.
pub(super) fn ip_at(link: LinkType) -> usize {
    if link == LinkType::ETHERNET {
        14
    } else {
        0
    }
}

/// The two ends of a TCP packet, the sending one first.
pub(super) type Ends = (Ipv4Addr, u16, Ipv4Addr, u16);

/// What the headers of an IPv4 packet say.
#[derive(Clone, Copy, Debug)]
pub(super) struct IpHead {
    pub src: Ipv4Addr,
    pub id: u16,
    pub ttl: u8,
    /// Of a TCP packet.
    pub tcp: Option<Tcp>,
}

/// What the headers of a TCP packet say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tcp {
    pub ends: Ends,
    pub seq: u32,
    pub flags: u8,
    /// Where its payload begins in the captured bytes, and how long it is on the wire.
    pub payload_at: usize,
    pub payload: u32,
}

impl IpHead {
    /// Reads the headers of the packet in `bytes`, whose IP header begins at `ip`.
    pub fn read(bytes: &[u8], ip: usize) -> Option<IpHead> {
        let header = bytes.get(ip..ip + IPV4)?;
        if header[0] >> 4 != 4 {
            return None;
        }
        let address =
            |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
        let (src, dst) = (address(12), address(16));
        let tcp_at = ip + usize::from(header[0] & 15) * 4;
        let tcp = bytes.get(tcp_at..tcp_at + 20).filter(|_| header[9] == TCP);
        let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let tcp = tcp.map(|tcp| {
            let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
            let payload_at = tcp_at + usize::from(tcp[12] >> 4) * 4;
            let headers = (payload_at - ip) as u32;
            Tcp {
                ends: (src, port(0), dst, port(2)),
                seq: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
                flags: tcp[13],
                payload_at,
                payload: u32::from(word(2)).saturating_sub(headers),
            }
        });
        Some(IpHead {
            src,
            id: word(4),
            ttl: header[8],
            tcp,
        })
    }
}

/// Sorts packets by their times; those of one instant stay in their order.
pub(super) fn sort(packets: &mut [CapturedPacket]) {
    packets.sort_by_key(|packet| packet.time);
}

/// True as often as `share` says, 0 to 1.
pub(super) fn chance(stream: &mut Stream, share: f64) -> bool {
    stream.uniform() < share
}

/// A number between two, its logarithm drawn evenly.
pub(super) fn log_between(stream: &mut Stream, least: f64, most: f64) -> f64 {
    least * (most / least).powf(stream.uniform())
}

/// This many seconds.
pub(super) fn seconds(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9) as i64)
}
