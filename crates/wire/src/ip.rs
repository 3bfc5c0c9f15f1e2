//! What lies behind an IPv4 or IPv6 header.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::link::{self, LinkType};
use crate::Skip;

/// IANA protocol numbers that are met on the way to TCP.
pub(crate) mod protocol {
    pub const HOP_BY_HOP: u8 = 0;
    pub const ICMP: u8 = 1;
    pub const IPV4: u8 = 4;
    pub const TCP: u8 = 6;
    pub const UDP: u8 = 17;
    pub const IPV6: u8 = 41;
    pub const ROUTING: u8 = 43;
    pub const FRAGMENT: u8 = 44;
    pub const GRE: u8 = 47;
    pub const AUTHENTICATION: u8 = 51;
    pub const ICMP6: u8 = 58;
    pub const DESTINATION: u8 = 60;
    pub const ETHERIP: u8 = 97;
    pub const MOBILITY: u8 = 135;
    pub const MPLS: u8 = 137;
    pub const HIP: u8 = 139;
    pub const SHIM6: u8 = 140;
}

/// What an IP header says about what is behind it.
pub(crate) struct Located {
    pub src: IpAddr,
    pub dst: IpAddr,
    /// The protocol behind the header and its extension headers.
    pub protocol: u8,
    /// Bytes from the start of the packet to that protocol's header.
    pub offset: usize,
    /// Bytes of the whole packet by its own length field.
    pub total: usize,
    /// Bytes of it that link layers and tunnels around it carry, where they state a length: the rest is padding.
    pub carried: usize,
    /// The length field is 0, `total` is the length on the wire.
    pub zero_length: bool,
    /// This is the first of several fragments.
    pub more_fragments: bool,
    /// IPv4's identification.
    pub id: Option<u16>,
    pub dont_fragment: bool,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// The two bits of ECN.
    pub ecn: u8,
}

/// The most that pads a short frame (IEEE 802.3 §3.2.8: it carries 46 bytes at least).
pub(crate) const MOST_PADDING: usize = 46;

impl Located {
    /// What is around the packet states that it carries `most` bytes, of `on_wire` that came: what lies behind is padding. More
    /// than padding can be is a length that was not renewed when a network card merged packets.
    #[inline]
    pub fn bound(&mut self, most: usize, on_wire: usize) {
        if self.zero_length {
            self.total = self.total.min(most);
        }
        let merged = self.total <= on_wire && self.total.saturating_sub(most) > MOST_PADDING;
        self.carried = if merged { self.total } else { most };
    }
}

/// Who sent an IPv4 packet to whom, whatever it carries, and how it is numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The source address.
    pub src: Ipv4Addr,
    /// The destination address.
    pub dst: Ipv4Addr,
    /// The protocol that it carries.
    pub protocol: u8,
    /// The identification (RFC 6864).
    pub id: u16,
}

impl Numbered {
    /// The IPv4 packet in a captured frame as [`crate::Headers::decode`] takes it, the outer one of a tunnel. None where there
    /// is none, or it is a later fragment of another.
    #[must_use]
    pub fn in_frame(link: LinkType, data: &[u8], original_len: u32) -> Option<Self> {
        let packet = link::strip(link, data).ok()?.bytes;
        let located = locate(packet, original_len as usize).ok()?;
        match (located.src, located.dst, located.id) {
            (IpAddr::V4(src), IpAddr::V4(dst), Some(id)) => Some(Numbered {
                src,
                dst,
                protocol: located.protocol,
                id,
            }),
            _ => None,
        }
    }
}

/// Finds what the packet in `bytes`, which start at the IP header, carries. `original` is the packet's length
/// on the wire, used when the length field says 0 (segmentation offload, RFC 2675 jumbograms).
#[inline]
pub(crate) fn locate(bytes: &[u8], original: usize) -> Result<Located, Skip> {
    match bytes.first() {
        None => Err(Skip::Empty),
        Some(first) if first >> 4 == 4 => v4(bytes, original),
        Some(first) if first >> 4 == 6 => v6(bytes, original),
        Some(first) => Err(Skip::NotIp {
            version: first >> 4,
        }),
    }
}

/// IPv4, RFC 791 §3.1.
#[inline]
fn v4(bytes: &[u8], original: usize) -> Result<Located, Skip> {
    let Some(h) = bytes.first_chunk::<20>() else {
        return Err(Skip::CutShort);
    };
    let offset = usize::from(h[0] & 0x0f) * 4;
    if offset < 20 {
        return Err(Skip::Malformed);
    }
    let fragment = u16::from_be_bytes([h[6], h[7]]);
    if fragment & 0x1fff != 0 {
        return Err(Skip::Fragment);
    }
    let total = match usize::from(u16::from_be_bytes([h[2], h[3]])) {
        0 => original.max(bytes.len()),
        length => length,
    };
    let src = IpAddr::V4(Ipv4Addr::new(h[12], h[13], h[14], h[15]));
    let dst = IpAddr::V4(Ipv4Addr::new(h[16], h[17], h[18], h[19]));
    Ok(Located {
        src,
        dst,
        protocol: h[9],
        offset,
        total,
        carried: link::UNLIMITED,
        zero_length: [h[2], h[3]] == [0, 0],
        more_fragments: fragment & 0x2000 != 0,
        id: Some(u16::from_be_bytes([h[4], h[5]])),
        dont_fragment: fragment & 0x4000 != 0,
        ttl: h[8],
        ecn: h[1] & 3,
    })
}

/// IPv6 with its chain of extension headers, RFC 8200 §3 and §4.
fn v6(bytes: &[u8], original: usize) -> Result<Located, Skip> {
    let Some(h) = bytes.first_chunk::<40>() else {
        return Err(Skip::CutShort);
    };
    let total = match usize::from(u16::from_be_bytes([h[4], h[5]])) {
        0 => original.max(bytes.len()),
        payload => 40 + payload,
    };
    let mut next = h[6];
    let mut offset = 40;
    let mut more_fragments = false;
    // Each turn moves on by at least 8 bytes, so this ends with the packet.
    while let protocol::HOP_BY_HOP
    | protocol::ROUTING
    | protocol::DESTINATION
    | protocol::MOBILITY
    | protocol::HIP
    | protocol::SHIM6
    | protocol::FRAGMENT
    | protocol::AUTHENTICATION = next
    {
        let Some(unit) = bytes.get(offset..).and_then(|rest| rest.first_chunk::<8>()) else {
            return Err(Skip::CutShort);
        };
        offset += match next {
            protocol::FRAGMENT => {
                let fragment = u16::from_be_bytes([unit[2], unit[3]]);
                if fragment & 0xfff8 != 0 {
                    return Err(Skip::Fragment);
                }
                // Without either, it is an atomic fragment (RFC 6946), a whole packet.
                more_fragments |= fragment & 1 != 0;
                8
            }
            // RFC 4302 §2.2 counts in units of 4 bytes, minus 2.
            protocol::AUTHENTICATION => (usize::from(unit[1]) + 2) * 4,
            _ => (usize::from(unit[1]) + 1) * 8,
        };
        next = unit[0];
    }
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&h[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    Ok(Located {
        src: address(8),
        dst: address(24),
        protocol: next,
        offset,
        total,
        carried: link::UNLIMITED,
        zero_length: [h[4], h[5]] == [0, 0],
        more_fragments,
        id: None,
        dont_fragment: true,
        ttl: h[7],
        ecn: (h[1] >> 4) & 3,
    })
}
