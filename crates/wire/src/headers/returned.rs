//! What an ICMP message quotes of a packet that a router returned.

use super::{Headers, Notes, Record, Sack};
use crate::ip::{self, protocol};
use crate::link::{self, LinkType};
use crate::{Flags, FlowKey, SeqNum};

/// Bytes of an ICMP message before the packet that it quotes.
const ICMP_HEADER: usize = 8;

impl Headers {
    /// What a captured frame quotes of a TCP packet, where it is ICMP's "fragmentation needed" (RFC 1191 §4) or ICMPv6's "packet too
    /// big" (RFC 4443 §3.2): its flow and its sequence number, with [`Notes::RETURNED`]; `window` is the MTU of the next link, 0 where
    /// the message does not tell it. Where it is "destination unreachable" (RFC 792, RFC 4443 §3.1) `flags` has RST: as that, it says
    /// that there will be no connection. It may quote no more of the TCP header than its first eight bytes (RFC 792). None of
    /// other frames; never panics.
    #[must_use]
    pub fn returned(link: LinkType, data: &[u8], original_len: u32) -> Option<Headers> {
        let packet = link::strip(link, data).ok()?.bytes;
        let outer = ip::locate(packet, original_len as usize).ok()?;
        let message = packet.get(outer.offset..)?;
        let &[kind, code, _, _, mtu @ ..] = message.first_chunk::<ICMP_HEADER>()?;
        let too_large = Flags::default();
        let (flags, mtu) = match (outer.protocol, kind, code) {
            (protocol::ICMP, 3, 4) => (too_large, u32::from(u16::from_be_bytes([mtu[2], mtu[3]]))),
            (protocol::ICMP6, 2, 0) => (too_large, u32::from_be_bytes(mtu)),
            (protocol::ICMP, 3, _) | (protocol::ICMP6, 1, _) => (Flags::RST, 0),
            _ => return None,
        };
        let quoted = message.get(ICMP_HEADER..)?;
        let located = ip::locate(quoted, quoted.len()).ok()?;
        if located.protocol != protocol::TCP {
            return None;
        }
        let tcp = quoted.get(located.offset..)?;
        let &[a, b, c, d, e, f, g, h] = tcp.first_chunk::<8>()?;
        Some(Headers {
            flow: FlowKey {
                src: located.src,
                dst: located.dst,
                src_port: u16::from_be_bytes([a, b]),
                dst_port: u16::from_be_bytes([c, d]),
            },
            seq: SeqNum::new(u32::from_be_bytes([e, f, g, h])),
            ack: SeqNum::default(),
            payload_len: 0,
            window: u16::try_from(mtu).unwrap_or(u16::MAX),
            flags,
            ttl: located.ttl,
            ip_id: located.id,
            dont_fragment: located.dont_fragment,
            ecn: located.ecn,
            record: Record::None,
            notes: Notes::RETURNED,
            timestamps: None,
            sack: Sack::default(),
            syn: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Fragmentation needed" about a packet of 1,500 bytes, of whose TCP header so much is quoted.
    fn message(kind: [u8; 2], quoted: usize) -> Vec<u8> {
        let ip = |total: u16, protocol: u8, src: u8, dst: u8| {
            let [high, low] = total.to_be_bytes();
            let head = [
                0x45, 0, high, low, 0, 7, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, src, 10, 0, 0, dst,
            ];
            head.to_vec()
        };
        let mut tcp = vec![
            0, 80, 0xc0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0x80, 16, 0, 0, 0, 0, 0, 0,
        ];
        tcp.truncate(quoted);
        let mut frame = ip(48 + quoted as u16, protocol::ICMP, 9, 1);
        frame.extend([kind[0], kind[1], 0, 0, 0, 0, 5, 0x14]);
        frame.extend(ip(1500, protocol::TCP, 1, 2));
        frame.extend(tcp);
        frame
    }

    #[test]
    fn a_message_that_a_packet_is_too_large_quotes_it() {
        let returned = |frame: &[u8]| Headers::returned(LinkType::RAW, frame, frame.len() as u32);
        let whole = returned(&message([3, 4], 20)).unwrap();
        assert_eq!((whole.flow.src_port, whole.seq.get()), (80, 0x0102_0304));
        assert_eq!(whole.window, 1300);
        assert!(whole.notes.contains(Notes::RETURNED));
        assert_eq!(returned(&message([3, 4], 8)).unwrap().seq, whole.seq);
        assert_eq!(returned(&message([3, 4], 7)), None);
        assert_eq!(returned(&message([11, 0], 20)), None);
    }

    #[test]
    fn a_message_that_a_host_is_unreachable_quotes_the_packet_as_refused() {
        let frame = message([3, 1], 8);
        let refused = Headers::returned(LinkType::RAW, &frame, frame.len() as u32).unwrap();
        assert!(refused.flags.rst() && refused.notes.contains(Notes::RETURNED));
        assert_eq!(refused.window, 0);
    }
}
