//! Padding of short frames that an IP header counts as its own: no data.
//!
//! An acknowledgement without options is 40 bytes long, and Ethernet carries 46 at least. Some senders and boxes on the way write
//! the length of the padded packet into the IP header.

use core::net::IpAddr;

use super::Flags;
use crate::ip::{protocol, Located, MOST_PADDING};

/// What a tag takes of that (IEEE 802.1Q).
const TAG: usize = 4;

/// Whether all that follows the TCP header of a packet is padding: the packet bears no flag but ACK, is as long as the least
/// that Ethernet carries ([`MOST_PADDING`], less where a tag takes a part of it), and its checksum is that of the header alone. Where
/// the checksum says nothing, as it was not renewed or not captured, zeros are padding if no tag takes a part. `tcp` begins with the
/// TCP header, which is `header` bytes long.
#[inline]
pub(super) fn is_counted(located: &Located, tcp: &[u8], header: usize) -> bool {
    let payload = located.total.saturating_sub(located.offset + header);
    let bare = tcp.get(13) == Some(&Flags::ACK.0);
    bare && payload > 0
        && (located.total == MOST_PADDING || located.total == MOST_PADDING - TAG)
        && is_padding(located, tcp, (header, payload))
}

#[cold]
fn is_padding(located: &Located, tcp: &[u8], (header, payload): (usize, usize)) -> bool {
    let Some(whole) = tcp.get(..header + payload) else {
        return false;
    };
    let (head, rest) = whole.split_at(header);
    match (is_valid(located, whole), is_valid(located, head)) {
        (true, false) => false,
        (false, true) => true,
        _ => located.total == MOST_PADDING && rest.iter().all(|&byte| byte == 0),
    }
}

/// Whether the checksum of a segment is right (RFC 9293 §3.1).
fn is_valid(located: &Located, segment: &[u8]) -> bool {
    let (IpAddr::V4(src), IpAddr::V4(dst)) = (located.src, located.dst) else {
        return false;
    };
    let word = |pair: &[u8]| {
        let low = pair.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([pair[0], low]))
    };
    let addresses = [src.octets(), dst.octets()].concat();
    let sum = addresses.chunks(2).map(word).sum::<u32>()
        + u32::from(protocol::TCP)
        + segment.len() as u32
        + segment.chunks(2).map(word).sum::<u32>();
    let folded = (sum & 0xffff) + (sum >> 16);
    (folded & 0xffff) + (folded >> 16) == 0xffff
}
