//! IP packets inside IP packets.

use super::strip::{behind_ether_type, behind_labels, Carried};
use super::LinkType;
use crate::ip::protocol;
use crate::Skip;

/// UDP ports of tunnels: IANA's for VXLAN (RFC 7348 §8), that of Linux before it, Geneve (RFC 8926 §3.3), GTP-U (3GPP TS 29.281
/// §4.4.2.3).
const VXLAN: u16 = 4789;
const VXLAN_LINUX: u16 = 8472;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;

/// The IP packet that `bytes`, what an IP packet of `protocol` carries, hold in a tunnel.
///
/// # Errors
/// `Skip::NotTcp` for what is no tunnel, else what stood in the way inside.
pub(crate) fn inside<'a>(protocol: u8, bytes: &'a [u8]) -> Result<Carried<'a>, Skip> {
    let not_tcp = Err(Skip::NotTcp { protocol });
    match protocol {
        protocol::IPV4 | protocol::IPV6 => Ok(Carried::unlimited(bytes)),
        protocol::GRE => gre(bytes),
        protocol::MPLS => behind_labels(bytes),
        // RFC 3378 §3: version 3 and twelve bits of 0.
        protocol::ETHERIP => match bytes.split_first_chunk() {
            Some((&[0x30, 0], frame)) => super::strip(LinkType::ETHERNET, frame),
            _ => not_tcp,
        },
        protocol::UDP => match bytes.split_first_chunk::<8>() {
            Some((udp, rest)) => match u16::from_be_bytes([udp[2], udp[3]]) {
                VXLAN | VXLAN_LINUX => vxlan(rest),
                GENEVE => geneve(rest),
                GTP_U => gtp_u(rest),
                _ => None,
            }
            .unwrap_or(not_tcp),
            None => not_tcp,
        },
        _ => not_tcp,
    }
}

/// VXLAN, RFC 7348 §5: flags with the bit that the network's number holds, the number, an Ethernet frame.
fn vxlan<'a>(bytes: &'a [u8]) -> Option<Result<Carried<'a>, Skip>> {
    let (head, frame) = bytes.split_first_chunk::<8>()?;
    (head[0] & 0x08 != 0).then(|| super::strip(LinkType::ETHERNET, frame))
}

/// Geneve, RFC 8926 §3.4: version 0, options in words, an EtherType.
fn geneve<'a>(bytes: &'a [u8]) -> Option<Result<Carried<'a>, Skip>> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    if head[0] >> 6 != 0 {
        return None;
    }
    let options = usize::from(head[0] & 0x3f) * 4;
    let kind = u16::from_be_bytes([head[2], head[3]]);
    Some(match rest.get(options..) {
        Some(rest) => behind_ether_type(kind, rest),
        None => Err(Skip::CutShort),
    })
}

/// GTP-U, 3GPP TS 29.281 §5.1: version 1 with a user's packet, four more bytes if a flag says so, extensions in words, of which
/// the last byte is the type of the next.
fn gtp_u<'a>(bytes: &'a [u8]) -> Option<Result<Carried<'a>, Skip>> {
    const PACKET: u8 = 255;
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    if head[0] & 0xf0 != 0x30 || head[1] != PACKET {
        return None;
    }
    let (mut rest, mut next) = (rest, 0);
    if head[0] & 7 != 0 {
        let (more, behind) = rest.split_first_chunk::<4>()?;
        next = if head[0] & 4 != 0 { more[3] } else { 0 };
        rest = behind;
    }
    while next != 0 {
        let length = usize::from(*rest.first()?) * 4;
        next = *rest.get(..length)?.last()?;
        rest = rest.get(length..)?;
    }
    Some(Ok(Carried::unlimited(rest)))
}

/// GRE, RFC 2784 §2 with RFC 2890, and version 1, RFC 2637 §4.1.
fn gre<'a>(bytes: &'a [u8]) -> Result<Carried<'a>, Skip> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGEMENT: u16 = 0x0080;
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or(Skip::CutShort)?;
    let flags = u16::from_be_bytes([head[0], head[1]]);
    let kind = u16::from_be_bytes([head[2], head[3]]);
    let version = flags & 7;
    if version > 1 || flags & ROUTING != 0 {
        return Err(Skip::NotTcp {
            protocol: protocol::GRE,
        });
    }
    let mut present = CHECKSUM | KEY | SEQUENCE;
    if version == 1 {
        present |= ACKNOWLEDGEMENT;
    }
    let mut words = (flags & present).count_ones() as usize;
    words += match kind {
        // ERSPAN: type I has neither sequence number nor header, II one of 8 bytes.
        0x88be if flags & SEQUENCE != 0 => 2,
        _ => 0,
    };
    let rest = rest.get(words * 4..).ok_or(Skip::CutShort)?;
    match kind {
        0x88be => super::strip(LinkType::ETHERNET, rest),
        // ERSPAN type III: 12 bytes, and 8 more by the last bit.
        0x22eb => {
            let more = rest.get(11).ok_or(Skip::CutShort)? & 1;
            let rest = rest.get(12 + 8 * usize::from(more)..);
            super::strip(LinkType::ETHERNET, rest.ok_or(Skip::CutShort)?)
        }
        kind => behind_ether_type(kind, rest),
    }
}
